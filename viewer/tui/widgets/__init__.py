"""Widgets: each draws what it is given and says what the person did."""
