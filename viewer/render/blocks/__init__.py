"""Blocks of the transcript view: their lines, cards of calls, JSON as rows, and rendered Markdown."""
