"""Insight: values made from projections, such as the prompt that a model receives next. It opens no file."""
