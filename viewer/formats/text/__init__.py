"""Text formats: OpenChatML 2.x and 1.x, Harmony, chat templates, Aider, and SpecStory."""
