"""The leak laboratory: canaries, actions, and what finds them."""
