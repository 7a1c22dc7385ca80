"""Reader and writer of OpenChatML 0.1."""
