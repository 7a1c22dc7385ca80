"""Nothing hidden leaves the program: the leak laboratory and non-interference."""
