"""Declare tools in bodies, and describe problems with arguments as text."""

from __future__ import annotations

import json

from viewer.tools.declarations import Declarations


def declared(text: str) -> Declarations:
    """Return the declarations in a body."""
    declarations = Declarations()
    declarations.read(text)
    return declarations


def tool(schema: object) -> str:
    """Return a body that declares the tool `f`."""
    return json.dumps({"type": "function", "function": {"name": "f", "parameters": schema}})


def faults(declarations: Declarations, arguments: str, name: str = "f", base: int = 0) -> list[tuple[str, str]]:
    """Return the reason of each fault, with the text at its span or, if something is missing, the text after it."""
    data = arguments.encode()
    return [
        (
            fault.reason,
            data[fault.start - base : fault.end - base].decode() or "before " + data[fault.start - base :].decode(),
        )
        for fault in declarations.check(name, data, base)
    ]
