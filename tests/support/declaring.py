"""Bodies that declare tools, and what is wrong with arguments, as text."""

from __future__ import annotations

import json

from viewer.tools.declarations import Declarations


def declared(text: str) -> Declarations:
    """The declarations in a body."""
    declarations = Declarations()
    declarations.read(text)
    return declarations


def tool(schema: object) -> str:
    """A body that declares the tool `f`."""
    return json.dumps({"type": "function", "function": {"name": "f", "parameters": schema}})


def faults(declarations: Declarations, arguments: str, name: str = "f", base: int = 0) -> list[tuple[str, str]]:
    """Reasons, and the text that each is about; of something missing, what follows."""
    data = arguments.encode()
    return [
        (
            fault.reason,
            data[fault.start - base : fault.end - base].decode() or "before " + data[fault.start - base :].decode(),
        )
        for fault in declarations.check(name, data, base)
    ]
