"""Rule rows for warnings about an agent's run: errors, and answers that ended early."""

from __future__ import annotations

from viewer.model.diagnostic import Rule

W_RUN_ERROR = Rule(
    code="W-RUN-ERROR",
    title="The run reported an error.",
    safe="The run reported an error here.",
    section="Record formats",
    advice="Open the debug view to read the error text.",
    example="""\
{"type":"user","uuid":"u1","sessionId":"s1","message":{"role":"user","content":"Is it sunny?"}}
{"type":"system","subtype":"api_error","uuid":"u2","sessionId":"s1","content":"Overloaded","error":{"status":529}}
""",
    shown_reason="api",
    reasons={
        "api": "The API returned an error.",
        "rate-limit": "A rate limit was reached.",
        "auth": "Authentication failed.",
        "context-length": "The context window was exceeded.",
        "content-filter": "A content filter stopped the answer.",
        "aborted": "The run was aborted.",
        "refused": "The model refused.",
        "unknown": "The run reported an unspecified error.",
    },
)

W_RUN_INCOMPLETE = Rule(
    code="W-RUN-INCOMPLETE",
    title="The answer ended early.",
    safe="The answer ended early.",
    section="Record formats",
    advice="Raise the limit named by the reason, or continue the run.",
    example="""\
{"id":"msg_1","type":"message","role":"assistant","content":[{"type":"text","text":"It is"}],\
"stop_reason":"max_tokens"}
""",
    shown_reason="max-tokens",
    reasons={
        "max-tokens": "The token limit was reached.",
        "pause": "The run was paused.",
        "stopped": "The run was stopped.",
    },
)

RUN = (W_RUN_ERROR, W_RUN_INCOMPLETE)
