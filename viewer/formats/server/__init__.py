"""Logs of model servers: prompts and outputs, read through the templates of the models."""
