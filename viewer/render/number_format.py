"""Number formats: short forms of times, sizes, and counts, and text on one line."""

from __future__ import annotations

from viewer.model.messages import Usage


def usage_words(usage: Usage) -> str:
    """Format token counts: `1,204 in (64 cached), 311 out (40 reasoning), 1,515 total`."""
    words = []
    if usage.input is not None:
        words.append(f"{usage.input:,} in" + (f" ({usage.cached:,} cached)" if usage.cached else ""))
    if usage.output is not None:
        words.append(f"{usage.output:,} out" + (f" ({usage.reasoning:,} reasoning)" if usage.reasoning else ""))
    if usage.total is not None:
        words.append(f"{usage.total:,} total")
    return ", ".join(words)


def one_line(text: str) -> str:
    """Collapse all whitespace to single spaces, for a preview."""
    return " ".join(text.split())


def duration(ms: int) -> str:
    """Format a duration: `6.3 s`, `2 min 5 s`, `1 h 5 min`."""
    seconds = abs(ms) / 1000
    sign = "-" if ms < 0 else ""
    if seconds < 59.95:
        return f"{sign}{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{sign}{minutes} min {rest} s"
    return f"{sign}{minutes // 60:,} h {minutes % 60} min"


def ago(seconds: float) -> str:
    """Format the time since a change: `now`, `5 min ago`, `2 h ago`, `yesterday`, `3 days ago`."""
    if seconds < 60:
        return "now"
    if seconds < 3600:
        return f"{seconds // 60:.0f} min ago"
    if seconds < 86400:
        return f"{seconds // 3600:.0f} h ago"
    days = int(seconds // 86400)
    return "yesterday" if days == 1 else f"{days:,} days ago"


def byte_size(count: int) -> str:
    """Format a size: `164 B`, `1.2 kB`, `3.4 MB`."""
    if count < 1000:
        return f"{count} B"
    if count < 1_000_000:
        return f"{count / 1000:.1f} kB"
    return f"{count / 1_000_000:,.1f} MB"


def counted(count: int, word: str, plural: str = "") -> str:
    """Format a count: `1 error`, `2 errors`. Pass `plural` if it is not the word plus s."""
    return f"{count:,} {word if count == 1 else plural or f'{word}s'}"


def token_count(tokens: int) -> str:
    """Format a token count for a narrow column: `9,204`, `128k`, `1.2M`."""
    if tokens < 100_000:
        return f"{tokens:,}"
    return f"{tokens / 1000:,.0f}k" if tokens < 999_500 else f"{tokens / 1_000_000:,.1f}M"


def money(cost: float) -> str:
    """Format a cost: `$0.0071`, `$12.40`, `<$0.0001`."""
    if 0 < cost < 0.00005:
        return "<$0.0001"
    return f"${cost:.4f}" if cost < 0.99995 else f"${cost:,.2f}"


def spent_words(tokens: int | None, cost: float | None) -> str:
    """Format tokens and their cost: `9,204 tokens, $0.0071`."""
    words = [f"{tokens:,} token{'' if tokens == 1 else 's'}"] if tokens is not None else []
    return ", ".join(words + ([money(cost)] if cost is not None else []))
