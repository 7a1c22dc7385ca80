"""OpenChatML 0.1: reader and writer."""
