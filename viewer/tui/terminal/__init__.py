"""The terminal: driver, output guard, clipboard, and editor."""
