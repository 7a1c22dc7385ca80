"""Read every chat template of `templates.py`: frames, headers, and the text between frames."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial

from viewer.cache import lazy_regex
from viewer.formats.text.mark_tokens import TEMPLATE, UNKNOWN, MarkTokens
from viewer.formats.text.plain_frames import FrameRules, PlainFrames, PlainHead
from viewer.formats.text.template_frame import Head, TemplateFrame
from viewer.formats.text.templates import TEMPLATES, Held, Speaker, Template
from viewer.model.messages import Coding, Ending, Header, Piece, Span
from viewer.reading.cursor import Token, TokenSet, Window
from viewer.reading.format import FormatTraits, ReadOptions
from viewer.reading.recorder import Recorder
from viewer.reading.template_marks import LONGEST_FOLD, MarkKind, mark_of
from viewer.rules.errors import E_STREAM_TRUNCATED
from viewer.rules.notes import I_OPEN_PROMPT
from viewer.rules.structure import W_END_MISSING

LONGEST_HEADER = 256
_SPACE = b" \t\r\n"
_ATTRIBUTE = lazy_regex(r"\s([a-z]{1,20})=\"([^\"<>]{0,200})\"")
_BRACKETED = b"[|"
"""The beginning of marks in square brackets."""
OUTER = (
    *("<s>", "</s>", "<bos>", "<eos>", "<BOS_TOKEN>", "<EOS_TOKEN>", "[BOS]", "<|begin_of_text|>", "<|end_of_text|>"),
    *("<|startoftext|>", "<|endoftext|>"),
)
"""Marks that may begin or end an input, whatever its template. Inside a frame, they are text; between frames, they are
not."""
_EDGE = "edge"
_START, _END, _LAYOUT, _LOOKALIKE, _HEADER_END = "start", "end", "layout", "lookalike", "header-end"
_AROUND, _HEADER_STOP = "around-answer", "header-stop"
_STARTS = (_START, UNKNOWN)


@cache
def _body_tokens(name: str) -> MarkTokens:
    template = TEMPLATES[name]
    return MarkTokens(
        {
            **{spelling.encode(): _EDGE for spelling in OUTER},
            **{spelling.encode(): _LOOKALIKE for spelling in template.lookalikes},
            **{spelling.encode(): _AROUND for spelling in template.around_answers},
            **{spelling.encode(): _LAYOUT for spelling in template.layout},
            **{spelling.encode(): _END for spelling in template.ends},
            **{spelling.encode(): _START for spelling in template.starts},
        },
        (
            f"<(?:{template.unknown[1:]}|{template.unknown_in_answers[1:]})"
            if template.unknown_in_answers
            else template.unknown
        ).encode(),
        template.bracketed.encode(),
    )


@cache
def _header_tokens(name: str) -> TokenSet:
    template = TEMPLATES[name]
    names = {
        **{_END: template.ends, _START: template.starts},
        **{_HEADER_END: template.header_ends, _HEADER_STOP: template.header_stops},
    }
    return TokenSet({spelling.encode(): name for name, spellings in names.items() for spelling in spellings})


@cache
def frame_rules(name: str) -> FrameRules:
    """Return the frames of a template."""
    template = TEMPLATES[name]
    tokens = _body_tokens(name).names
    return FrameRules(
        frozenset(spelling for spelling, kind in tokens.items() if kind == _START),
        frozenset(spelling for spelling, kind in tokens.items() if kind == _END),
        frozenset(
            (
                *(spelling for spelling, kind in tokens.items() if kind in (_LAYOUT, _LOOKALIKE, _AROUND)),
                *((_BRACKETED,) if template.bracketed else ()),
            )
        ),
        tuple(mark.encode() for mark in template.header_ends),
        LONGEST_HEADER,
        partial(_plain_head, template),
        frozenset(mark.encode() for mark in template.both),
    )


def _plain_head(template: Template, start: bytes, words: bytes) -> PlainHead | None:
    given = template.starts[start.decode()]
    if start.decode() in template.asked_before:
        return None
    if template.header_ends or given is None:
        head = read_head(template, given, words, (0, 0))
    else:
        head = Head(given, given.value, None, (0, 0))
    if head.speaker in (None, Speaker.TOOL) or not head.complete or head.role in template.call_roles:
        return None
    held = template.held.get(head.speaker)
    return PlainHead(head.header(), held.may_be if held else None, head.speaker in template.open_ended)


class TemplateReader:
    """Reads a chat template with a state machine. Each state is a method that returns True to continue."""

    def __init__(self, record: Recorder, template: Template) -> None:
        self._record = record
        self._template = template
        self._window = Window()
        self._at = 0
        """Everything before this offset has been read."""
        self._scan = 0
        """How far the search for the end of the current header has progressed."""
        self._tokens = _body_tokens(template.name)
        self._header_tokens = _header_tokens(template.name) if template.header_ends else None
        self._plain = PlainFrames(frame_rules(template.name))
        self._frame: TemplateFrame | None = None
        self._frame_start = 0
        self._given: Speaker | None = None
        self._broke_out = False
        self._is_first_header = False
        self._has_begun = False
        """True after the first frame began."""
        self._is_both = False
        """True if the mark that began the current header also ended the previous frame."""
        self._stray: Span | None = None
        self._asked_before: str | None = None
        """The mark before which the text of the current frame is a question; None if its speaker is known."""
        self._state = self._first_state()
        self.ends_in_answer = False
        """True if the input ended inside an answer, which a completion would continue."""

    def feed(self, data: bytes) -> None:
        self._window.append(data)
        while self._state(False):
            pass
        if self._frame:
            self._frame.settle()
        self._window.drop(self._at)

    def close(self) -> None:
        while self._state(True):
            pass
        if self._frame:
            self.ends_in_answer = self._frame.goes_on
            self._truncate(self._frame)
        self._flush_stray()

    # Between frames.

    def _first_state(self) -> Callable[[bool], bool]:
        if self._template.begins_with_header:
            return self._begin_header
        return self._begin_first if self._template.begins_with else self._between

    def _begin_header(self, ended: bool) -> bool:
        """Begin with a header that has no start mark. Return False if more bytes are needed."""
        text = self._window.text(self._at, self._window.end)
        bare = text.lstrip(_SPACE)
        mark = next(
            (mark for mark in map(str.encode, self._template.layout) if mark.startswith(bare[: len(mark)])), b""
        )
        if not bare or (len(bare) < len(mark) and not ended):
            return False
        self._at += len(text) - len(bare)
        if mark and bare.startswith(mark):
            self._at += len(mark)
            return True
        self._frame_start = self._scan = self._at
        self._is_first_header = True
        self._state = self._header
        return True

    def _begin_first(self, ended: bool) -> bool:
        """Open the frame that comes before the first mark. Return False if more bytes are needed."""
        if not self._window.data:
            return False
        speaker = self._template.begins_with
        assert speaker is not None
        self._open(Head(speaker, speaker.value, None, (0, 0)), 0)
        return True

    def _between(self, ended: bool) -> bool:
        if self._stray is None:
            start = self._at
            self._at = self._plain.take(self._window, start, self._record)
            self._has_begun |= self._at > start
        if self._template.between is not None and self._has_begun and self._begins_at_text(ended):
            self._frame_start, self._broke_out = self._at, False
            head = Head(Speaker.USER, "user", None, (self._at, self._at))
            self._open(head, self._at, held=self._template.between)
            return True
        token = self._next_token(self._tokens, ended)
        if token is None:
            return False
        if token.name in _STARTS:
            self._flush_stray()
            self._begin(token, broke_out=False)
        elif self._begins_reply(token):
            self._flush_stray()
            self._frame_start, self._broke_out = token.start, False
            self._open(Head(Speaker.ASSISTANT, "assistant", None, (token.start, token.start)), token.start)
        elif token.name in (_LAYOUT, _END, _EDGE):
            self._flush_stray()
            self._at = token.end
        else:
            self._add_stray(token.start, token.end)
            self._at = token.end
        return True

    def _begins_at_text(self, ended: bool) -> bool:
        """True if text comes before the next token. Skip whitespace before it."""
        window = self._window
        while text := window.text(self._at, min(self._at + LONGEST_HEADER, window.end)):
            self._at += len(text) - len(text.lstrip(_SPACE))
            if text.strip(_SPACE):
                break
        token = self._tokens.search(window, self._at)
        end = token.start if token else window.end
        if not ended:
            end = min(end, window.end - self._tokens.held_back(window))
        return end > self._at or (token is not None and token.name == TEMPLATE and self._is_settled(token, ended))

    def _is_settled(self, token: Token, ended: bool) -> bool:
        """True if no further byte can change the meaning of the token."""
        window = self._window
        held = window.end - self._tokens.held_back(window)
        return ended or window.end - token.end > LONGEST_FOLD or token.start < held

    def _begins_reply(self, token: Token) -> bool:
        if token.name != TEMPLATE or not self._template.replies_outside:
            return False
        opens = mark_of(self._text(token), (token.start, token.end)).opens
        return opens is not None and opens.kind is MarkKind.REPLY

    def _add_stray(self, start: int, end: int) -> None:
        text = self._window.text(start, end)
        bare = text.strip(_SPACE)
        if bare:
            first = start + len(text) - len(text.lstrip(_SPACE))
            self._stray = (self._stray[0] if self._stray else first, first + len(bare))

    def _flush_stray(self) -> None:
        if self._stray:
            self._record.stray(*self._stray)
            self._stray = None

    # In a header.

    def _begin(self, token: Token, *, broke_out: bool) -> None:
        self._frame_start, self._broke_out = token.start, broke_out
        self._at = self._scan = token.end
        if token.name == UNKNOWN:
            role = self._text(token).decode("utf-8", "replace").strip("<|｜>[]")
            self._open(Head(None, role, None, (token.start, token.end)), token.end)
            return
        spelling = self._text(token).decode()
        self._given = self._template.starts[spelling]
        self._is_both = spelling in self._template.both
        self._asked_before = self._template.asked_before.get(spelling)
        if self._header_tokens is None:
            assert self._given is not None
            self._open(Head(self._given, self._given.value, None, (token.start, token.end)), token.end)
        else:
            self._state = self._header

    def _header(self, ended: bool) -> bool:
        window, tokens = self._window, self._header_tokens
        assert tokens is not None
        limit = self._at + LONGEST_HEADER
        token = tokens.search(window, self._scan, min(limit, window.end))
        is_whole = token is not None and token.name in (_HEADER_END, _HEADER_STOP)
        if self._is_first_header and not is_whole and (token is not None or window.end >= limit):
            self._open(Head(Speaker.SYSTEM, "system", None, (self._at, self._at)), self._at)
            return True
        if token is not None:
            body = token.end if token.name == _HEADER_END else token.start
            self._open(self._head(token.start, is_whole=is_whole), body)
            return True
        if window.end >= limit:
            self._open(self._head(self._at, is_whole=False), self._at)
            return True
        if ended:
            self._cut_header_off()
            return False
        self._scan = max(self._scan, window.end - tokens.held_back(window))
        return False

    def _head(self, end: int, *, is_whole: bool) -> Head:
        """Return the header from the words up to this offset."""
        span = (self._at, end)
        words = self._window.text(*span)
        return read_head(self._template, self._given, words, span) if is_whole else _broken_head(words, span)

    def _cut_header_off(self) -> None:
        """Handle the end of the input inside a header."""
        end = self._window.end
        head = self._head(end, is_whole=True)
        is_end = self._is_both and not self._broke_out and not self._window.text(*head.span).strip(_SPACE)
        self._at, self._state = end, self._between
        if is_end:
            return
        if head.speaker is Speaker.ASSISTANT and not self._broke_out:
            self._record.start_if_none(self._frame_start)
            self._record.report(I_OPEN_PROMPT, None, self._frame_start, end)
            self.ends_in_answer = True
            return
        header = Head(None, "", None, head.span, complete=False).header()
        number = self._add_cut(header, end)
        self._record.report(E_STREAM_TRUNCATED, "header", end, end, number)

    def _add_cut(self, header: Header, end: int) -> int:
        piece = Piece(end, end, Coding.PLAIN)
        span = (self._frame_start, end)
        return self._record.add(header, Ending.OPEN, span, [piece], broke_out=self._broke_out)

    # In a body.

    def _open(self, head: Head, body: int, held: Held | None = None) -> None:
        self._frame = TemplateFrame(
            self._record, self._template, head, self._frame_start, body, broke_out=self._broke_out, held=held
        )
        if self._asked_before is not None:
            self._frame.wait()
        self._is_first_header, self._has_begun = False, True
        self._at = body
        self._state = self._body

    def _body(self, ended: bool) -> bool:
        frame = self._frame
        assert frame is not None
        token = self._next_token(self._tokens, ended)
        if token is None:
            return False
        text = self._text(token)
        if token.name == _START or (token.name == UNKNOWN and frame.is_unknown_mark(text)):
            self._start_in_body(frame, token)
            return True
        self._at = token.end
        if token.name == _END:
            self._asked_before = None
            frame.finish(Ending.END, token.end, (token.start, token.end))
            self._frame, self._state = None, self._between
        elif token.name == _LAYOUT:
            frame.layout(text, token)
        elif token.name == _AROUND:
            frame.around(text, token)
        elif token.name in (_EDGE, UNKNOWN):
            frame.add(text, token.start)
        elif token.name == _LOOKALIKE:
            frame.lookalike(text, token)
        else:
            frame.mark(text, token)
        return True

    def _start_in_body(self, frame: TemplateFrame, token: Token) -> None:
        """Handle the start of the next frame. In some templates, only this ends the current frame."""
        spelling = self._text(token).decode("utf-8", "replace")
        template = self._template
        is_end = spelling in template.both and (spelling in template.ends or not frame.is_in_block)
        broke_out = frame.hides and not is_end
        if spelling == self._asked_before:
            frame.ask()
        self._asked_before = None
        if frame.may_end_here or frame.only_replied or is_end:
            frame.finish(Ending.END, token.start)
            if token.name == _START and not broke_out:  # plain frames may follow
                self._frame, self._state, self._at = None, self._between, token.start
                return
        else:
            frame.report_nested(token)
            number = frame.finish(Ending.IMPLIED, token.start)
            self._record.report(W_END_MISSING, None, token.start, token.start, number)
        self._frame = None
        self._begin(token, broke_out=broke_out)

    def _truncate(self, frame: TemplateFrame) -> None:
        """Handle the end of the input inside a body."""
        end = self._window.end
        self._frame, self._asked_before = None, None
        if frame.is_prompt:
            self._record.start_if_none(self._frame_start)
            self._record.report(I_OPEN_PROMPT, None, self._frame_start, end)
            return
        if frame.may_end_here:
            frame.finish(Ending.END, end)
            return
        number = frame.finish(Ending.OPEN, end)
        self._record.start_if_none(self._frame_start)
        self._record.report(E_STREAM_TRUNCATED, "body", end, end, number)

    # The window.

    def _next_token(self, tokens: TokenSet, ended: bool) -> Token | None:
        """Pass on the text before the next token. Return the token, or None if more bytes are needed."""
        window = self._window
        token = tokens.search(window, self._at)
        if ended or (token and window.end - token.end > LONGEST_FOLD):
            end = token.start if token else window.end
        else:
            end = window.end - tokens.held_back(window)
            if token and token.start < end:
                end = token.start
            else:  # the meaning of a token at the end may depend on the bytes after it
                token = None
        if end > self._at:
            if self._frame:
                self._frame.add(window.text(self._at, end), self._at)
            else:
                self._add_stray(self._at, end)
            self._at = end
        return token

    def _text(self, token: Token) -> bytes:
        return self._window.text(token.start, token.end)


def read_head(template: Template, given: Speaker | None, text: bytes, span: Span) -> Head:
    """Return the header with these words. `given` is the speaker that the start of the frame names, if it names one."""
    words = text.decode("utf-8", "replace").split()
    if not words:
        return _broken_head(text, span)
    if template.has_attributes:
        return _attribute_head(template, text.decode("utf-8", "replace"), span)
    role = words[0]
    if template.begins_with_header:
        role = " ".join(words)
        return Head(template.roles.get(role), role, None, span)
    if given is not None:
        named = " ".join(words)
        return Head(given, given.value, named if named != given.value else None, span)
    speaker = template.roles.get(role)
    if speaker is None and template.names_tools:
        return Head(Speaker.TOOL, "tool", " ".join(words), span)
    if template.has_controls and words[1:] and words[1].startswith("{") and words[-1].endswith("}"):
        words = words[:1]
    if words[1:] and not (len(words) == 2 and words[1].startswith("name=")):
        speaker = None
    name = words[1].removeprefix("name=") if speaker and words[1:] else ""
    return Head(speaker, role, name if name and not name.startswith("<|") else None, span)


def _attribute_head(template: Template, words: str, span: Span) -> Head:
    """Return the header with these attributes. The role is unknown if others than the usual ones say more about it."""
    pairs = _ATTRIBUTE.findall(words)
    given = dict(pairs)
    role = given.pop("role", "")
    speaker = template.roles.get(role)
    is_usual = len(pairs) == len(given) + 1 and not _ATTRIBUTE.sub("", words).strip()
    if not is_usual or (speaker in (Speaker.USER, Speaker.ASSISTANT) and given.keys() - {"name"}):
        return Head(None, role, None, span)
    return Head(speaker, role, given.get("tool") or given.get("name"), span)


def _broken_head(text: bytes, span: Span) -> Head:
    """Return a header that is empty or has no end."""
    words = text.decode("utf-8", "replace").split()
    return Head(None, words[0] if words else "", None, span)


def _traits(name: str) -> FormatTraits:
    template = TEMPLATES[name]

    def read(record: Recorder, options: ReadOptions) -> TemplateReader:
        return TemplateReader(record, template)

    return FormatTraits(
        name=name, reader=read, shares_spans=True, infers_calls=True, thoughts_first=True, plain_runs=True
    )


CHATML = _traits("chatml")
LLAMA3 = _traits("llama3")
DEEPSEEK = _traits("deepseek")
GEMMA = _traits("gemma")
GLM = _traits("glm")
PHI = _traits("phi")
COHERE = _traits("cohere")
MISTRAL = _traits("mistral")
KIMI_TEXT = _traits("kimi-text")
MINIMAX = _traits("minimax")
GRANITE = _traits("granite")
ZEPHYR = _traits("zephyr")
OPENCHAT = _traits("openchat")
EXAONE = _traits("exaone")
LING = _traits("ling")
HUNYUAN = _traits("hunyuan")
HUNYUAN_MOE = _traits("hunyuan-moe")
MINICPM = _traits("minicpm")
GIGACHAT = _traits("gigachat")
MEGREZ = _traits("megrez")
DOTS = _traits("dots")
BAICHUAN = _traits("baichuan")
APERTUS = _traits("apertus")
SEED_OSS = _traits("seed-oss")
SOLAR = _traits("solar")
JAMBA = _traits("jamba")
NEMOTRON = _traits("nemotron")
KIMI_K3 = _traits("kimi-k3")
INTERNLM = _traits("internlm")
