"""Turn bytes into messages: grammar, headers, bodies, and the parser that defines the language."""
