"""Rendering: messages and diagnostics as text that is safe for a terminal, and as exports."""
