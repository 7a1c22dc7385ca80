"""A loopback proxy that logs model requests and their answers as JSON Lines: `proxy` relays, `writer` logs."""
