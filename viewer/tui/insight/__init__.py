"""Analysis screens on top of the main screen: comparison, leaks, readings, and the next prompt."""
