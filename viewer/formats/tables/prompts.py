"""Recognize prompts that a program rendered with a chat template, because they contain more than the user typed."""

from __future__ import annotations

from viewer.cache import lazy_regex
from viewer.formats.printed_objects import is_printed_object
from viewer.model.messages import Kind

_MARK = lazy_regex(
    r"<\|(?:im_start|im_system|im_user|im_assistant|start_header_id|start_of_role|start|system|user|assistant|begin_of_text)\|>"
    r"|<\|(?:START_OF_TURN_TOKEN|turn)\|?>|<\|turn>|<start_of_turn>|\[/?INST\]|<<SYS>>|\[(?:SYSTEM_PROMPT|AVAILABLE_TOOLS)\]"
    r"|<\|(?:prompt|answer|userprompt|response|role_start|role_sep|message_sep|(?:system|developer|user|assistant)_start"
    r"|begin|bom|extra_[04])\|>|\[\|(?:system|user|assistant)\|\]|<role>[A-Z]+</role>|GPT[34](?: Correct)? User:"
    r"|<\|open\|>message |<\|(?:User|Bot|System)\|>:|<\|begin_of_sentence\|>"
    r"|<用户>|<AI>|<reserved_10[2367]>|<(?:C_Q|C_A|B_SYS)>|<seed:bos>|<SPECIAL_1[0-2]>|<extra_id_[01]>"
    r"|<｜(?:(?:hy_)?(?:User|Assistant|begin▁of▁sentence)|hy_place▁holder▁no▁\d)｜>|\[gMASK\]|\]~b\]|<(?:SYSTEM|User|Assistant)>"
    r"|(?m:^)[ \t]*<(?i:system|user|assistant)>"
    r"|(?m:^)(?:(?:\#{2,3} ?(?:Instruction|Human|Response|Assistant|User)|\#{1,3} ?System)\b|(?:SYSTEM|USER|ASSISTANT):"
    r"|[ \t]*\[(?i:system|user|assistant)\]"
    r"|[ \t*_>\[-]{0,6}(?i:assistant|ai|bot|gpt|system|thought|action|observation)(?:[ _]\d{1,3})?[\]*_ \t]{0,4}[:：])"
)
"""A pattern that matches turn marks."""
_PRINTED = lazy_regex(
    r"(?m:^)(?i:system|developer)(?:[ _-]?(?i:prompt|message))?:|\A\s*(?:"
    r"(?i:human|user|assistant|ai|tool|function)(?:[ _-]?(?i:message))?:.*\n(?s:.*\n)?"
    r"(?i:human|user|assistant|ai|tool|function)(?:[ _-]?(?i:message))?:"
    r"|(?:\w*Message|Content)\()"
)
"""A pattern that matches conversations that a program printed: lines that name a speaker, and messages as objects."""


def prompt_kind(text: str) -> Kind:
    """Return the kind of a prompt. Without turn marks, the user typed it; with them, it may contain instructions."""
    return Kind.UNKNOWN if _MARK.search(text) else Kind.SAID


def traced_prompt_kind(text: str) -> Kind:
    """Return the kind of the input of a model call, which may be a printed conversation."""
    return Kind.UNKNOWN if _PRINTED.search(text) or is_printed_object(text) else prompt_kind(text)
