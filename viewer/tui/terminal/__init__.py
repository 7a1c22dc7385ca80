"""The terminal: driver, output guard, painting, clipboard, and editor."""
