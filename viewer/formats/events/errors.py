"""Errors of the Responses API, by their codes."""

from __future__ import annotations

from viewer.rules.run import W_RUN_ERROR, W_RUN_INCOMPLETE

ERRORS = {
    "rate_limit_exceeded": "rate-limit",
    "insufficient_quota": "rate-limit",
    "invalid_api_key": "auth",
    "context_length_exceeded": "context-length",
    "content_filter": "content-filter",
    "server_error": "api",
}
"""Reasons by the code of an error."""
INCOMPLETE = {
    "max_output_tokens": (W_RUN_INCOMPLETE, "max-tokens"),
    "content_filter": (W_RUN_ERROR, "content-filter"),
}
"""Reports by the reason why a response is incomplete."""
