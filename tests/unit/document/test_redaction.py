"""The table of secrets: what is found and in which spellings, what is left unchanged, and how each secret is masked."""

from __future__ import annotations

import json
import os
import sysconfig
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from tests.support.program import ROOT, run
from viewer.document.redaction.examples import example_of
from viewer.document.redaction.finder import Finder, possible_kinds
from viewer.document.redaction.kinds import BY_NAME, KINDS, SecretKind, Shape
from viewer.document.redaction.redactor import Redactor
from viewer.errors import ViewerError

LEAST_KINDS = 60
LEAST_FOUND = 0.99
MOST_FALSE = 0.01
PIECE = 12
"""The number of adjacent characters of a secret that must not remain."""
ALWAYS = (Shape.TOKEN, Shape.BLOCK, Shape.CONTEXT, Shape.PERSONAL)


def wrapped(text: str, width: int, indent: str) -> str:
    return f"\n{indent}".join(text[at : at + width] for at in range(0, len(text), width))


def divided(text: str, mark: str) -> str:
    return text[: len(text) // 2] + mark + text[len(text) // 2 :]


def in_json(text: str) -> str:
    return json.dumps({"command": f"cat file\n{text}\n"})


WAYS: dict[str, tuple[tuple[Shape, ...], Callable[[str], str]]] = {
    "plain": (ALWAYS, str),
    "in a sentence": (ALWAYS, "Look: {}.".format),
    "in quotes": (ALWAYS, 'call("{}", 1)'.format),
    "in JSON": (ALWAYS, in_json),
    "in JSON in JSON": (ALWAYS, lambda text: in_json(in_json(text))),
    "as code": (ALWAYS, "`{}`".format),
    "emphasized": ((Shape.TOKEN,), "_{}_ and".format),
    "with escaped signs": ((Shape.TOKEN,), lambda text: text.replace("_", "\\u005f").replace("-", "\\u002d")),
    "escaped as Markdown": ((Shape.TOKEN,), lambda text: text.replace("_", "\\_").replace("-", "\\-")),
    "percent-encoded": ((Shape.TOKEN,), lambda text: text.replace("-", "%2D").replace("/", "%2F")),
    "over several lines": ((Shape.TOKEN,), lambda text: f"see\n{wrapped(text, 40, '    ')}\n\nEnd"),
    "quoted over several lines": ((Shape.TOKEN,), lambda text: f"> {wrapped(text, 30, '> ')}\n"),
    "continued in a shell": ((Shape.TOKEN,), lambda text: divided(text, "\\\n  ")),
    "with an invisible character": ((Shape.TOKEN,), lambda text: divided(text, "\u200b")),
    "partly bold": ((Shape.TOKEN,), lambda text: divided(text, "**")),
}


def is_shown(secrets: list[str], text: str) -> bool:
    """True if a piece of a secret is still there after removing the characters that divide it."""
    for mark in ("\n", " ", ">", "**", "\u200b", "\\"):
        text = text.replace(mark, "")
    return any(word[at : at + PIECE] in text for word in secrets for at in range(len(word) - PIECE + 1))


def test_the_table_is_complete() -> None:
    assert len([kind for kind in KINDS if kind.shape is not Shape.PERSONAL]) >= LEAST_KINDS
    assert len(BY_NAME) == len(KINDS)
    for kind in KINDS:
        assert kind.title and kind.hints and all(hint == hint.lower() for hint in kind.hints), kind.name
        text, _ = example_of(kind, Random(1))
        assert Finder().find(text), kind.name


@pytest.mark.share(quick=6)
@pytest.mark.parametrize("way", WAYS)
def test_generated_secrets_are_found_in_every_spelling(way: str) -> None:
    shapes, spell = WAYS[way]
    chance, missed, count = Random(20), list[str](), 0
    for kind in KINDS:
        for _ in range(4 if kind.shape in shapes else 0):
            text, secrets = example_of(kind, chance)
            cleaned = Redactor().clean(spell(text))
            count += 1
            if is_shown(secrets, cleaned) or "[redacted:" not in cleaned:
                missed.append(kind.name)
    assert len(missed) <= (1 - LEAST_FOUND) * count, missed


@pytest.mark.slow
def test_one_search_finds_the_hints_of_all_kinds() -> None:
    hints, chance = sorted({hint for kind in KINDS for hint in kind.hints}), Random(1)
    pieces = [*hints, *(hint.upper() for hint in hints), *(hint[:-1] for hint in hints), "x", " ", "é", "İ", "\ud800"]
    for size in (0, *range(1, 60), *[20_000] * 3):
        text = "".join(chance.choices(pieces, k=size))
        small = text.lower()
        expected = [kind.name for kind in KINDS if any(hint in small for hint in kind.hints)]
        assert [kind.name for kind in possible_kinds(text)] == expected, text[:200]


@pytest.mark.slow
def test_each_kind_has_a_recall_of_its_own() -> None:
    for kind in KINDS:
        chance = Random(3)
        missed = 0
        for _ in range(100):
            text, secrets = example_of(kind, chance)
            missed += is_shown(secrets, Redactor().clean(text))
        assert missed <= 10, kind.name


def secret_lines(text: str) -> int:
    found = Finder().find(text)
    return len({text.count("\n", 0, secret.start) for secret in found if _opens(BY_NAME[secret.kind])})


def _opens(kind: SecretKind) -> bool:
    return kind.shape is not Shape.PERSONAL


@pytest.mark.slow
def test_source_code_and_documentation_are_left_alone() -> None:
    library = Path(sysconfig.get_paths()["stdlib"])
    for paths in (sorted(library.glob("[a-m]*.py")), sorted((ROOT / "docs").rglob("*.md")) + sorted(ROOT.glob("*.md"))):
        texts = [path.read_text("utf-8", "replace") for path in paths]
        assert len(texts) > 20
        assert sum(map(secret_lines, texts)) <= MOST_FALSE / 10 * sum(text.count("\n") for text in texts)


NO_SECRETS = [
    "password = getpass.getpass()", "def login(user, password: str = None)", "token = tokens[index + 1]",
    "api_key=os.environ['SERVICE_API_KEY']", "export API_KEY=your-api-key-here", "secret_key: <YOUR_SECRET_KEY>",
    "the bearer of this letter", "key = collections.OrderedDict", "https://example.org:8080/path?token=1",
    "git@", "sk-learn and sk-image-processing", "AKIA is a prefix", "cookie: a small cake", "token=${TOKEN}",
    "-----BEGIN CERTIFICATE-----", "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "commit 1f7d3a9c0b5e4d2f8a6c7b9e0d1f2a3b4c5d6e7f", "550e8400-e29b-41d4-a716-446655440000",
    "/usr/home", "a/home/b", "the password is required: enter it twice", "PasswordField(max_length=128)",
    "std::string secret_name;",
]  # fmt: skip


def test_what_only_resembles_a_secret_is_left_alone() -> None:
    assert [Redactor().clean(text) for text in NO_SECRETS] == NO_SECRETS


def one(name: str, seed: int = 1) -> str:
    return example_of(BY_NAME[name], Random(seed))[0]


def test_equal_secrets_get_equal_masks_in_every_spelling() -> None:
    first, second = one("github-token"), one("github-token", 2)
    redactor = Redactor()
    assert redactor.clean(f"{first} and {second}, {first}") == (
        "[redacted:github-token-1] and [redacted:github-token-2], [redacted:github-token-1]"
    )
    assert redactor.clean(divided(second, "\n  ")) == "[redacted:github-token-2]"
    key = one("openai-key")
    lines = f"A={key}\nexport B={key}\nPATH2={key}\n\n- {wrapped(key, 50, '  ')}\nThen {key}"
    mask = "[redacted:openai-key-1]"
    assert redactor.clean(lines) == f"A={mask}\nexport B={mask}\nPATH2={mask}\n\n- {mask}\nThen {mask}"
    assert redactor.clean(json.dumps([first])) == '["[redacted:github-token-1]"]'
    assert redactor.name(f"logs/{first}.ocml") == "logs/redacted-github-token-1.ocml"
    assert redactor.clean(redactor.clean(first)) == "[redacted:github-token-1]"


def test_a_secret_that_was_learned_is_masked_where_nothing_announces_it() -> None:
    text, (password,) = example_of(BY_NAME["password"], Random(4))
    redactor = Redactor()
    assert password in redactor.clean(f"Is {password} right?")
    redactor = Redactor()
    redactor.learn(text)
    assert redactor.clean(f"Is {password} right?") == "Is [redacted:password-1] right?"
    assert redactor.sentence == "Redacted: password 1 (1 different)."


def test_people_are_masked_and_what_surrounds_them_is_kept() -> None:
    chance = Random(5)
    address, home = example_of(BY_NAME["email"], chance)[0], example_of(BY_NAME["home"], chance)[0]
    name = home.removeprefix("/home/")
    redactor = Redactor()
    assert redactor.clean(f"From: <{address}>") == "From: <[redacted:email-1]>"
    assert redactor.clean(f"{home}/project/a.py") == "[redacted:home-1]/project/a.py"
    for path in (
        f"/Users/{name}/x",
        f"C:\\Users\\{name}\\x",
        f"C:\\\\Users\\\\{name}\\\\x",
        f"file:///home/{name}/x",
        f"/srv/agent/projects/-home-{name}-project",
    ):
        assert name not in Redactor().clean(path), path


def test_the_longest_of_overlapping_secrets_names_the_mask() -> None:
    token = one("openai-key")
    assert Redactor().clean(f"Authorization: Bearer {token}") == "Authorization: Bearer [redacted:openai-key-1]"
    assert Redactor().clean(f"OPENAI_API_KEY={token}") == "OPENAI_API_KEY=[redacted:openai-key-1]"
    assert Redactor().clean(one("url-password")).endswith("@db.internal:5432/main")


def test_patterns_of_the_user_are_masked_and_a_faulty_one_is_refused() -> None:
    redactor = Redactor({"customer": "C-[0-9]{4}", "badge": "badge ([0-9]+)"})
    assert redactor.clean("C-1234 has badge 77") == "[redacted:customer-1] has badge [redacted:badge-1]"
    with pytest.raises(ViewerError, match=r"redact\.bad in the settings file: Invalid regular expression"):
        Redactor({"bad": "("})


def test_the_picture_of_the_page_shows_the_masks(tmp_path: Path) -> None:
    chance = Random(8)
    names = ("openai-key", "url-password", "email", "home", "github-token")
    key, url, address, home, token = (example_of(BY_NAME[name], chance)[0] for name in names)
    script = f"```sh\nexport OPENAI_API_KEY={key}\nexport DATABASE={url}\n```"
    said = (
        ("user", f"The job fails with 401. My key is {key}, and I am {address}."),
        ("assistant", f"The log `{home}/jobs/nightly.log` shows another key. Set both again:\n\n{script}"),
        ("user", f"Now it runs. Can I delete {home}/jobs/old.env? It still contains {token}."),
        ("assistant", "Yes. Revoke the token first, because it was in a file."),
    )
    file = tmp_path / "support.json"
    file.write_text(json.dumps([{"role": role, "content": text} for role, text in said]), "utf-8")
    drawn = run("export", "--redact", "--to", "svg", "-o", "-", file).out
    assert drawn.count("[redacted:") == 7
    picture = ROOT / "docs" / "pictures" / "redacted.svg"
    if os.environ.get("OCML_UPDATE"):
        picture.write_text(drawn, "utf-8")
    assert picture.read_text("utf-8") == drawn


def test_no_file_of_the_program_looks_like_it_leaks_a_secret() -> None:
    files = [*(ROOT / "viewer" / "document" / "redaction").glob("*.py"), *ROOT.glob("docs/*.md"), Path(__file__)]
    for path in files:
        found = Finder().find(path.read_text("utf-8"))
        assert not [secret for secret in found if BY_NAME[secret.kind].shape in (Shape.TOKEN, Shape.BLOCK)], path
