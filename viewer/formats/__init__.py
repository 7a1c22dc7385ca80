"""The formats: `DIALECTS`, the table of all that can be read, and `WRITERS`, of all that can be written."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from viewer.core.dialect import Dialect
from viewer.formats.chatml_json import CHATML_JSON, write_chatml_json
from viewer.formats.detect import Detection, detect
from viewer.formats.events import EVENTS
from viewer.formats.harmony import HARMONY
from viewer.formats.json_messages import JSON, write_json
from viewer.formats.openchatml import OPENCHATML_1_X, OPENCHATML_2_0, OPENCHATML_2_2
from viewer.formats.openchatml_0_1 import OPENCHATML_0_1
from viewer.formats.openchatml_0_1_write import write_openchatml_0_1
from viewer.formats.token_ids import HARMONY_TOKENS
from viewer.formats.writable import Writable, WritableTranscript
from viewer.formats.write_text import TO_2_0, TO_2_2, TO_HARMONY, Writer, writer_for

__all__ = ["DIALECTS", "WRITERS", "Detection", "Writer", "detect"]

DIALECTS: dict[str, Dialect] = {
    dialect.name: dialect
    for dialect in (
        OPENCHATML_2_2,
        OPENCHATML_2_0,
        OPENCHATML_1_X,
        OPENCHATML_0_1,
        HARMONY,
        HARMONY_TOKENS,
        CHATML_JSON,
        JSON,
        EVENTS,
    )
}


def _without_headers(write: Callable[[Iterable[Writable]], tuple[str, list[str]]]) -> Writer:
    """A writer whose format has no document header."""

    def write_all(transcripts: Sequence[WritableTranscript], messages: Iterable[Writable]) -> tuple[str, list[str]]:
        text, losses = write(messages)
        if any(transcript.header for transcript in transcripts):
            losses = [*losses, "the document header cannot be said"]
        return text, losses

    return write_all


WRITERS: dict[str, Writer] = {
    OPENCHATML_2_2.name: writer_for(TO_2_2),
    OPENCHATML_2_0.name: writer_for(TO_2_0),
    OPENCHATML_0_1.name: _without_headers(write_openchatml_0_1),
    HARMONY.name: writer_for(TO_HARMONY),
    CHATML_JSON.name: _without_headers(write_chatml_json),
    JSON.name: lambda transcripts, messages: write_json(messages, transcripts),
}
