"""The leak laboratory: canaries, actions, and the leak finder."""
