"""Sessions of the agent Acme: one JSON record per line."""

from pathlib import Path

from viewer.plugins import (
    Container,
    Kind,
    Outcomes,
    PartRule,
    PluginFormat,
    RecordFormat,
    RecordRule,
    Sample,
    Signature,
    flag,
    has,
    is_,
)

PARTS = (
    PartRule((is_("kind", "text"),), Kind.SAID, body="text"),
    PartRule((is_("kind", "thought"),), Kind.THOUGHT, body="text"),
    PartRule((is_("kind", "call"),), Kind.CALL, body="arguments", call_id="id", name="tool"),
)

TABLE = RecordFormat(
    name="acme",
    title="Acme session",
    container=Container.LINES,
    signatures=(Signature(90, need=("acme_version",)), Signature(90, need=("speaker", "parts"))),
    records=(
        RecordRule((has("acme_version"),), None),
        RecordRule((flag("automatic"),), Kind.INJECTED, "user", body="parts", parts=PARTS, time="at"),
        RecordRule((is_("speaker", "human"),), Kind.SAID, "user", body="parts", parts=PARTS, time="at"),
        RecordRule((is_("speaker", "agent"),), Kind.SAID, "assistant", body="parts", parts=PARTS, time="at"),
        RecordRule(
            (is_("speaker", "tool"),),
            Kind.REPLY,
            "tool",
            body="result",
            call_id="call",
            outcome=Outcomes(failed=("failed",)),
            time="at",
        ),
    ),
)

_SAMPLES = Path(__file__).parent / "samples"

FORMAT = PluginFormat(TABLE, samples=(Sample(str(_SAMPLES / "basic.jsonl"), str(_SAMPLES / "basic.seen.json")),))
