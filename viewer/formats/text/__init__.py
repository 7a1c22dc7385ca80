"""OpenChatML 2.x and 1.x, and Harmony: grammars, log lines, and the writer."""
