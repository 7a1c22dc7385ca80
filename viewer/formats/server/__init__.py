"""Logs of model servers: prompts and outputs, read with the chat templates of the models."""
