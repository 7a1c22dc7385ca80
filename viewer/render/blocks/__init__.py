"""Blocks of the transcript view: lines, call cards, JSON rows, and rendered Markdown."""
