"""Content parts of the Gemini API, which several agents store."""

from __future__ import annotations

from viewer.formats.tables.model import Outcomes, PartRule, When, has, lacks
from viewer.model.messages import Kind
from viewer.syntax.json_text import JsonKind

_NO_TEXT = lacks("text")
_DATA = "|".join(
    (
        *("functionCall", "function_call", "functionResponse", "function_response", "executableCode"),
        *("executable_code", "codeExecutionResult", "code_execution_result", "inlineData", "inline_data"),
        *("fileData", "file_data"),
    )
)

PARTS = (
    PartRule((has("functionCall"), _NO_TEXT), Kind.CALL, "functionCall.args", "functionCall.id", "functionCall.name"),
    PartRule(
        (has("function_call"), _NO_TEXT), Kind.CALL, "function_call.args", "function_call.id", "function_call.name"
    ),
    PartRule(
        (has("functionResponse"), _NO_TEXT),
        Kind.REPLY,
        "functionResponse.response",
        "functionResponse.id",
        "functionResponse.name",
        outcome=Outcomes(failed=("functionResponse.response.error",)),
    ),
    PartRule(
        (has("function_response"), _NO_TEXT),
        Kind.REPLY,
        "function_response.response",
        "function_response.id",
        "function_response.name",
        outcome=Outcomes(failed=("function_response.response.error",)),
    ),
    PartRule(
        (has("executableCode|executable_code"), _NO_TEXT),
        Kind.CALL,
        "executableCode.code|executable_code.code",
        default_name="code_execution",
        text=True,
    ),
    PartRule(
        (has("codeExecutionResult|code_execution_result"), _NO_TEXT),
        Kind.REPLY,
        "codeExecutionResult.output|code_execution_result.output",
        default_name="code_execution",
        outcome=Outcomes(
            failed=("codeExecutionResult.outcome!=OUTCOME_OK", "code_execution_result.outcome!=OUTCOME_OK"),
        ),
    ),
    PartRule((has("inlineData|inline_data|fileData|file_data"), _NO_TEXT), Kind.SAID, label=True),
    PartRule((has("text"), has(_DATA)), Kind.UNKNOWN),
    PartRule((has("text"), lacks("thought")), Kind.SAID, "text"),
    PartRule((has("text"), When("thought", kind=JsonKind.FALSE)), Kind.SAID, "text"),
    PartRule((has("text"),), Kind.THOUGHT, "text"),
    PartRule((has("thoughtSignature"),), Kind.THOUGHT, "thoughtSignature", opaque=True),
)
"""The parts of both roles. Text next to other data is an unknown part."""
