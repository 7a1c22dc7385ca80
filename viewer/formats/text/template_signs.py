"""Recognize a chat template by signs at the beginning of an input."""

from __future__ import annotations

from msgspec import Struct

from viewer.cache import lazy_regex
from viewer.reading.template_marks import MARK, mark_of


class Sign(Struct, frozen=True):
    """A chat template, with the first of its marks in a text."""

    format: str
    mark: str
    start: int


_FRAMES = lazy_regex(
    rb"(?P<chatml><\|im_start\|>)"
    rb"|(?P<llama3><\|(?:start_header_id|header_start)\|>)"
    rb"|(?P<gemma><start_of_turn>|<\|turn>)"
    rb"|(?P<cohere><\|START_OF_TURN_TOKEN\|>)"
    rb"|(?P<kimi><\|im_(?:user|system|assistant)\|>)"
    rb"|(?P<minimax>\]~b\]|\]~!b\[)"
    rb"|(?P<glm>\[gMASK\]|<\|observation\|>)"
    rb"|(?P<plain><\|(?:system|user|assistant)\|>)"
    rb"|(?P<granite><\|start_of_role\|>)"
    rb"|(?P<zephyr><\|prompt\|>)"
    rb"|(?P<gigachat><\|(?:role|message)_sep\|>)"
    rb"|(?P<megrez><\|role_start\|>[a-z]{1,20}<\|role_end\|>)"
    rb"|(?P<dots><\|userprompt\|>)"
    rb"|(?P<baichuan><reserved_10[26]>|<C_Q>|<B_SYS>)"
    rb"|(?P<apertus><\|(?:system|user)_start\|>)"
    rb"|(?P<seedoss><seed:bos>[a-z])"
    rb"|(?P<solar><\|begin\|>(?:system|user)<\|content\|>)"
    rb"|(?P<jamba><\|bom\|><\|(?:system|user)\|>)"
    rb"|(?P<nemotron><(?:SPECIAL_10|extra_id_0)>System\n|<(?:SPECIAL_11|extra_id_1)>User\n)"
    rb"|(?P<kimik3><\|open\|>message role=\"[a-z]{1,20}\")"
    rb"|(?P<internlm><\|(?:User|System)\|>:)"
    rb"|(?P<exaone>\[\|(?:system|user|assistant)\|\])"
    rb"|(?P<ling><role>(?:SYSTEM|HUMAN|ASSISTANT)</role>)"
    rb"|(?P<openchat>(?:GPT4 Correct|GPT[34]|Code|Math Correct) (?:User|System):)"
    rb"|(?P<mistral>\[(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|MODEL_SETTINGS)\])"
    + "|(?P<deepseek><｜(?:User|Assistant|begin▁of▁sentence)｜>)"
    "|(?P<hunyuan><｜hy_(?:User|begin▁of▁sentence)｜>)|(?P<minicpm><用户>)".encode()
)
_NAMES = {"kimi": "kimi-text", "seedoss": "seed-oss", "kimik3": "kimi-k3"}
_OLD_ONLY = lazy_regex(
    rb"\[BOS\]|<\|(?:function_(?:call|output|list)|(?:start|end)_(?:reason|reflect|introspect)|fim_[a-z]+"
    rb"|file_separator)\|>"
)
_IS_MISTRAL = lazy_regex(rb"\s*(?:<s>\s*)?\[(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|MODEL_SETTINGS)\]")
_IS_KIMI = lazy_regex(rb"\s*\[BOS\]\s*<\|(?:im_(?:user|system|assistant)\|>|open\|>message )")
_IS_MOE = lazy_regex(rb"\s*<\|startoftext\|>(?!<\|)")
_BEFORE = lazy_regex(rb"\s*(?:(?:<s>|<bos>|\[BOS\]|<\|(?:bos|begin_of_text|startoftext|endoftext)\|>)\s*)?\Z")
"""A pattern for what may come before the first mark of a template that other texts quote."""
_SYSTEM_BEFORE = lazy_regex(rb"<\|end_of_turn\|>\s{0,8}\Z")
_HEADER_BEFORE = lazy_regex(rb"\s*(?:<s>\s*)?(?:system|developer system|user|assistant)\Z")
_AT_START = frozenset(
    {
        *("granite", "zephyr", "exaone", "ling", "openchat", "hunyuan", "minicpm", "gigachat", "megrez", "dots"),
        *("baichuan", "apertus", "seedoss", "solar", "jamba", "nemotron", "kimik3", "internlm"),
    }
)
_ANSWERS = {
    "baichuan": (b"<reserved_103>", b"<reserved_107>", b"<C_A>"),
    "minicpm": (b"<AI>",),
    "internlm": (b"<|Bot|>:",),
}
"""The marks of answers in templates whose system text comes before the first mark."""
_NO_SYSTEM = lazy_regex(rb"(?m)^[ \t]*(?:#|```|~~~|[-*>] )|[\"`=]")
"""A pattern for what a text about a template has before the first mark."""
_SENTENCE_END = tuple(map(str.encode, (".", "!", "?", ":", "\n", "。", "！", "？", "：")))
_ZEPHYR = (b"</s>", b"<|endoftext|>", b"<|endofturn|>", b"<|assistant|>\n")
_GLM = lazy_regex(rb"\[gMASK\]|<\|observation\|>")


def find_sign(text: bytes) -> Sign | None:
    """Return the first mark of a template, or None if the text uses no template."""
    if b"<|extra_" in text and _IS_MOE.match(text):
        return Sign("hunyuan-moe", "<|startoftext|>", text.index(b"<"))
    found = _FRAMES.search(text)
    if found is None:
        return None
    format = found.lastgroup or ""
    start = 0 if _IS_KIMI.match(text) else found.start()
    if format == "plain":
        format = _plain(text)
    if format in _AT_START and not _is_at_start(format, text, start):
        return None
    if (format == "chatml" and not _is_chatml(text)) or (format == "mistral" and not _is_mistral(text)):
        return None
    return Sign(_NAMES.get(format, format), found[0].decode(), start) if format else None


def _plain(text: bytes) -> str:
    """Return the template for frames that several templates share, or an empty string if nothing identifies it."""
    if _GLM.search(text):
        return "glm"
    if b"<|endofsystem|>" in text:
        return "dots"
    if b"<|end|>" in text:
        return "phi"
    return "zephyr" if any(mark in text for mark in _ZEPHYR) else ""


def _is_at_start(format: str, text: bytes, start: int) -> bool:
    """True if a text begins with the mark, so that it is not only a text about the template."""
    before = text[:start]
    if format == "openchat" and _SYSTEM_BEFORE.search(before[-64:]):
        return True
    if format == "gigachat":
        if text.startswith(b"<|message_sep|>", start):  # the frame before it is the system's
            return before.lstrip().startswith(b"<s>") and b"<|role_sep|>" in text
        return _HEADER_BEFORE.match(before) is not None
    if format in _ANSWERS and before.endswith(_SENTENCE_END) and not _NO_SYSTEM.search(before):
        return any(mark in text[start:] for mark in _ANSWERS[format])
    return _BEFORE.match(before) is not None and (format != "openchat" or b"<|end_of_turn|>" in text)


def _is_chatml(text: bytes) -> bool:
    """True for frames with marks for tools or thoughts. Without these marks, frames are OpenChatML 0.1."""
    if _OLD_ONLY.search(text):
        return False
    if b"<|im_sep|>" in text:
        return True
    return any(mark_of(found[0], found.span()).opens for found in MARK.finditer(text))


def _is_mistral(text: bytes) -> bool:
    return b"[/INST]" in text or _IS_MISTRAL.match(text) is not None
