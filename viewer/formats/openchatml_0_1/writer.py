"""Write messages of any format as OpenChatML 0.1, with a sentence for each loss.

Canonical text is unchanged after reading and writing:

- each transcript begins with `[BOS]` and ends with `[EOS]` and a newline; its items are separated by a newline;
- a frame is `<|im_start|>role`, then ` name=…` and other attributes, a newline, its parts separated by a newline, and
  `<|im_end|>`;
- consecutive messages with the same header line share a frame if they are thought blocks, calls, or outputs, or text
  after a thought block; text that follows text or JSON begins a new frame; empty text is in a separate frame;
- a thought block is `<|start_reason|>text<|end_reason|>`; a call is `<|function_call|>`, a newline and JSON; an output
  is similar;
- a fill-in is `<|fim_prefix|>…<|fim_middle|>…<|fim_suffix|>…` without breaks; a file, even the first one, is
  `<|file_separator|>`, a newline and its text; files come before frames;
- no whitespace follows text or surrounds JSON.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from viewer.formats.openchatml_0_1.between import FILL_IN, MEANT_OUTSIDE
from viewer.formats.openchatml_0_1.losses import Loss, Losses, Said
from viewer.formats.openchatml_0_1.message_writer import SPACE, Kind, Written, refuse_tokens, write_part
from viewer.formats.writing import Writable, without_headers

_FILL_INS = {(role, mark.replace("_", ".")): mark for mark, role in FILL_IN.items()}
_FILE = re.compile(r"file ([1-9][0-9]{0,8})")
_MOST_EMPTY_FILES = 1000


def write_openchatml_0_1(messages: Iterable[Writable]) -> tuple[str, list[str]]:
    """Return the text, and a sentence for each loss. Raise `RefusedError` for a message that cannot be represented."""
    writer = _Writer()
    for message in messages:
        writer.write(message)
    writer.end_transcript()
    return "".join(writer.text), writer.losses.sentences()


class _Writer:
    """Writes the frames, files, and fill-ins of transcripts."""

    def __init__(self) -> None:
        self.text: list[str] = []
        self.losses = Losses()
        self._transcript: int | None = None
        self._empty = True
        self._framed = False
        self._files = 0
        self._frame: list[Written] = []
        self._fill_in: str | None = None
        """The mark of the last written fill-in, if nothing has followed it."""
        self._ragged = False
        """True if the last written fill-in ended in whitespace."""

    def write(self, message: Writable) -> None:
        if message.transcript != self._transcript:
            self.end_transcript()
            self._begin_transcript(message.transcript)
        mark = _FILL_INS.get((message.role, message.name or ""))
        if mark:
            self._write_fill_in(message, mark)
        elif self._is_file(message):
            self._write_file(message)
        else:
            self._write_frame(message)

    def end_transcript(self) -> None:
        if self._transcript is None:
            return
        self._end_item()
        self.text.append("[EOS]\n")

    def _begin_transcript(self, number: int) -> None:
        self.text.append("[BOS]")
        self._transcript = number
        self._empty, self._framed, self._files = True, False, 0

    def _end_item(self) -> None:
        """End the current frame or run of fill-ins."""
        if self._frame:
            parts = "\n".join(part.text for part in self._frame)
            self._item(f"<|im_start|>{self._frame[0].line}\n{parts}<|im_end|>")
        if self._ragged:
            self.losses.add(Loss.SPACE)
        self._frame, self._fill_in, self._ragged = [], None, False

    def _item(self, text: str) -> None:
        if not self._empty:
            self.text.append("\n")
        self.text.append(text)
        self._empty = False

    # Frames.

    def _write_frame(self, message: Writable) -> None:
        part = write_part(message, self.losses)
        if not self._joins(part):
            self._end_item()
        self._frame.append(part)
        self._framed = True

    def _joins(self, part: Written) -> bool:
        """True if the part can share a frame with the previous one."""
        if not self._frame or self._frame[-1].line != part.line:
            return False
        last = self._frame[-1]
        if last.kind is Kind.TEXT and not last.text.strip(SPACE):
            return False
        if part.kind is Kind.TEXT:
            return last.kind is Kind.THOUGHT and bool(part.text.strip(SPACE))
        return True

    # Files and fill-ins.

    def _is_file(self, message: Writable) -> bool:
        found = _FILE.fullmatch(message.name or "")
        if not found or message.role != "user" or self._framed:
            return False
        return 0 < int(found[1]) - self._files_before() <= _MOST_EMPTY_FILES

    def _files_before(self) -> int:
        """Return the number of files so far. Text before the first separator is also a file."""
        return self._files or int(not self._empty)

    def _write_file(self, message: Writable) -> None:
        number = int((message.name or "").removeprefix("file "))
        self._note(message, Said())
        if message.body.rstrip(SPACE) != message.body or not message.body:
            self.losses.add(Loss.SPACE)
        self._separate(number)
        self.text.append(f"\n{message.body}")

    def _separate(self, number: int) -> None:
        """Write separators until the next file has this number."""
        self._end_item()
        before = self._files_before()
        self._item("\n".join(["<|file_separator|>"] * (number - before)))
        self._files = number

    def _write_fill_in(self, message: Writable, mark: str) -> None:
        self._note(message, Said())
        self._enter_file(message.extra.get("file", ""))
        text = f"<|{mark}|>{message.body}"
        if mark == "fim_suffix" and self._fill_in == "fim_prefix":
            text = f"<|fim_middle|>{text}"
        if self._fill_in:
            self.text.append(text)
        else:
            self._end_item()
            self._item(text)
        if mark == "fim_middle" and not message.body.strip(SPACE):
            self.losses.add(Loss.SPACE)
        self._fill_in, self._ragged = mark, message.body.rstrip(SPACE) != message.body

    def _enter_file(self, number: str) -> None:
        """Begin the file of a fill-in, unless it has already begun. A file may contain only fill-ins."""
        if self._framed or not re.fullmatch("[1-9][0-9]{0,8}", number):
            return
        if 0 < int(number) - self._files_before() <= _MOST_EMPTY_FILES:
            self._separate(int(number))

    def _note(self, message: Writable, said: Said) -> None:
        refuse_tokens(message, MEANT_OUTSIDE)
        self.losses.add_common(message)
        self.losses.add_unsaid(message, said)


WRITE_0_1 = without_headers(write_openchatml_0_1)
