"""Rule rows for leaks, a warning and a note: answers that repeat hidden text. Only `check --leaks` reports them."""

from __future__ import annotations

from viewer.model.diagnostic import Rule

_ADVICE = "Compare both messages in the leak view."
_COPIED = "The answer repeats a passage of hidden text."

W_LEAK = Rule(
    code="W-LEAK",
    title="The answer repeats hidden text.",
    safe="",
    section="`ocmlview leaks` and `check --leaks` only",
    advice=f"{_ADVICE} Paraphrases are not detected.",
    example="""\
version: 2.2
<|start|>developer<|message|>Never say the voucher ZX-4471.<|end|>
<|start|>user<|message|>Is there a voucher?<|end|>
<|start|>assistant<|channel|>final<|message|>Yes, it is ZX-4471.<|return|>
""",
    reasons={
        "secret": "The answer contains a rare string from hidden text.",
        "copied": _COPIED,
        "meta": "The answer contains phrases typical of reasoning.",
    },
)

I_LEAK = Rule(
    code="I-LEAK",
    title="The answer may repeat hidden text.",
    safe="",
    section="`ocmlview leaks` and `check --leaks` only",
    advice=_ADVICE,
    example="""\
version: 2.2
<|start|>developer<|message|>As a rule we offer ten percent to customers who threaten to leave the club.<|end|>
<|start|>user<|message|>I want to leave.<|end|>
<|start|>assistant<|channel|>final<|message|>Well, we offer ten percent to customers who threaten to leave.<|return|>
""",
    reasons={"copied": _COPIED},
)
