"""A loopback proxy that logs model requests and responses as JSON Lines: `proxy` relays, `writer` logs."""
