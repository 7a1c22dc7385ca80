"""Recognize spans of traces, and logged calls, whose names say that they produce no answer: titles, drafts, judges."""

from __future__ import annotations

import re
from collections.abc import Iterator

from viewer.cache import bounded_cache
from viewer.formats.hiding import spelled
from viewer.syntax.json_text import JsonKind, JsonNode

_NAMES = spelled(
    *("name", "kind", "type", "stage", "purpose", "task", "step", "operation", "operation_name", "environment"),
    *("node", "node_name", "langgraph_node", "run_name", "span_name", "display_name", "call_type", "category"),
    *("tag", "tags", "label", "labels"),
)
"""Members that name a span, or that state its purpose."""
_HOLDERS = spelled(
    *(
        "metadata",
        "attributes",
        "extra",
        "span_attributes",
        "span_data",
        "properties",
        "request_properties",
        "custom_properties",
        "traceloop",
        "entity",
        "langfuse",
    ),
    *("observation", "association"),
)
"""Members that contain further names."""
_DEEPEST_HOLDER = 3
_SIDE_WORDS = frozenset(
    {
        *("title", "titles", "titler", "titling", "draft", "drafts", "drafter", "drafting"),
        *("judge", "judges", "judging", "judgement", "judgment", "grader", "graders", "scorer", "scorers"),
        *("critic", "critics", "critique", "critiques", "evaluator", "evaluators"),
        *("guardrail", "guardrails", "moderation", "reranker"),
    }
)
"""Words in the names of calls that produce no answer."""
_SIDE_TASKS = frozenset(
    {
        *("router", "routing", "route", "classifier", "classification", "classify", "planner", "planning"),
        *("reflection", "reflect", "rewriter", "rewriting", "rewrite", "rephrase", "condense", "grade", "score"),
        *("critic", "evaluate", "rerank"),
    }
)
"""Words that may also describe an answer. They count only if the rest of the name is general."""
_GENERAL = frozenset(
    {
        *("agent", "answer", "call", "chain", "completion", "detection", "documents", "generation", "input", "intent"),
        *("llm", "message", "messages", "model", "node", "openai", "output", "prompt", "query", "question", "request"),
        *("response", "run", "self", "span", "step", "task", "user", "the", "a", "an"),
    }
)
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_LONGEST_NAME = 80


def is_side_call(span: JsonNode) -> bool:
    """True if the names of a span say that its model call produces no answer for the user."""
    return any(map(_is_side_name, _names(span, 0)))


def _names(node: JsonNode, depth: int) -> Iterator[str]:
    for member in node.members:
        value = member.value
        if member.key in _NAMES:
            for each in value.items or [value]:
                if each.kind is JsonKind.STRING:
                    yield each.text
        if member.key in _HOLDERS and depth < _DEEPEST_HOLDER:
            yield from _names(value, depth + 1)


@bounded_cache(1024)
def _is_side_name(name: str) -> bool:
    if len(name) > _LONGEST_NAME:
        return False
    words = [word.lower() for word in _WORD.findall(name)]
    if not _SIDE_WORDS.isdisjoint(words):
        return True
    return not _SIDE_TASKS.isdisjoint(words) and all(word in _SIDE_TASKS or word in _GENERAL for word in words)
