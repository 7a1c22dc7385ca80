"""ChatGPT chats in Markdown: prompts and answers are shown; thoughts and what programs wrote are hidden."""

from __future__ import annotations

from tests.support.agent_records import assert_hidden, assert_others_are_hidden, kinds, shown
from tests.support.cases import each
from tests.support.growth import assert_growth
from tests.support.record_samples import assert_read_as_expected
from tests.support.samples import Sample, samples
from viewer.formats import detect
from viewer.formats.text.input_lines import InputLines

NAME = "chat-markdown"
HEAD = "# Title\n\n#### You:\na\n\n#### ChatGPT:\n"


@each("sample", samples(f"valid/{NAME}"), ids=lambda sample: sample.name, quick=4)
def test_a_sample_shows_what_its_expectation_says(sample: Sample) -> None:
    assert_read_as_expected(sample)
    assert_hidden(sample.text, NAME)


def test_examples_of_other_formats_show_nothing_hidden() -> None:
    assert_others_are_hidden(NAME)


def test_thoughts_calls_and_the_footer_are_no_answer() -> None:
    thought = "<details>\n<summary>Thinking</summary>\n\nSECRET_A\n\n"
    assert shown(f"{HEAD}{thought}</details>\n\nb\n".encode(), NAME) == ["a", "b"]
    assert shown(f"{HEAD}{thought}SECRET_B\n".encode(), NAME) == ["a"]
    assert shown(f"{HEAD}Code:\n```\nSECRET_A\n```\n".encode(), NAME) == ["a"]
    assert shown(f"{HEAD}b\n\n#### Plugin (web):\nSECRET_A\n\n#### You:\nc\n".encode(), NAME) == ["a", "b", "c"]
    footer = "---\nPowered by [ChatGPT Exporter](https://www.chatgptexporter.com)\n"
    assert shown(f"{HEAD}b\n\n---\n\nPowered by love\n\n{footer}".encode(), NAME) == [
        "a",
        "b\n\n---\n\nPowered by love",
    ]
    dates = ("11/2/2025, 9:14:40 PM", "2026/4/2 11:53:57", "11.10.2025, 02:10:17", "2/7/2026, 4:02:11\u202fPM")
    for date in dates:
        assert shown(f"{HEAD}{date}\n\nb\n".encode(), NAME) == ["a", "b"], date
        assert shown(f"{HEAD}{date}\n\n{thought}</details>\n\nb\n".encode(), NAME) == ["a", "b"], date
        assert shown(f"{HEAD}{date}\nb\n".encode(), NAME) == ["a", f"{date}\nb"], date
    for text in ("11/2 9:14:40", "At 11/2/2025, 9:14:40", "11/2.2025 9:14:40"):
        assert shown(f"{HEAD}{text}\n\nb\n".encode(), NAME) == ["a", f"{text}\n\nb"], text
    assert [kind for kind, _ in kinds(f"{HEAD}\n{footer}".encode(), NAME)] == ["said"]
    for text in (
        "# A\n\n#### You:\n\nb\n",
        "# A\n\n## Prompt:\n\nb\n\n## Response:\n\nc\n",
        "text\n\n#### You:\n\n#### ChatGPT:\n",
    ):
        assert detect(text.encode()).format != NAME, text


def test_a_long_line_that_arrives_in_small_pieces_is_searched_once() -> None:
    def feed(count: int) -> None:
        lines = InputLines()
        assert not any(any(lines.feed(b"a" * 8)) for _ in range(count))

    assert_growth(feed, 20_000, 160_000, 12)
