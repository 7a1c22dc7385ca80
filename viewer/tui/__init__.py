"""The app: widgets are given data and send messages; only screens change things."""
