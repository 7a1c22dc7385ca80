"""The reference definitions reveal each fault that is planted in the source of the accelerator."""

from __future__ import annotations

import random
from importlib.machinery import ExtensionFileLoader
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest

from hatch_build import compile_module
from tests.laws.test_backends_agree import table
from tests.laws.test_message_batches import compare
from tests.laws.test_scan_equals_parse import TURNS
from tests.support.native import LEVELS, needs_compiler, needs_native, using
from tests.support.native_records import assert_records, assert_steps, assert_texts, hostile, in_strings
from tests.support.native_rows import (
    assert_as_numpy,
    assert_counts,
    assert_defined,
    assert_emoji,
    assert_faults,
    assert_matches,
    assert_objects,
    assert_signs,
    assert_string_objects,
)
from tests.support.program import ROOT
from tests.unit.native.test_frames import soup
from tests.unit.native.test_objects import bodies_for
from tests.unit.native.test_proof import assert_proofs
from tests.unit.native.test_schemas import assert_faults_of_bodies, schema
from tests.unit.native.test_signs import BORDER, cut_characters, emoji
from tests.unit.native.test_signs import text as signs_text
from viewer import native
from viewer.columns.numpy_backend import NumpyColumns

pytestmark = [pytest.mark.lab, needs_native, needs_compiler]
_FOLDER = ROOT / "viewer" / "native"
SOURCE = (_FOLDER / "_fast.c").read_text("utf-8")
for _name in ("_proof.c", "_records.c", "_strings.c"):
    SOURCE = SOURCE.replace(f'#include "{_name}"', (_FOLDER / _name).read_text("utf-8"))
FAULTS: dict[str, tuple[str, ...]] = {
    "the byte before the block is forgotten": ("(at ? data[at - 1] : before)", "(at ? data[at - 1] : 0)"),
    "a token at offset 0 is escaped": ("(at ? data[at - 1] : before)", "(at ? data[at - 1] : '<')"),
    "escapes count in every grammar": ("(is_escaped && escapes))", "is_escaped)"),
    "escapes count nowhere": ("(is_escaped && escapes))", "0)"),
    "an escape in a header marks the body": ("is_escaped && escapes && state == BODY", "is_escaped && escapes"),
    "a mark at the end is foreign": ("#define LONGEST_TOKEN 13", "#define LONGEST_TOKEN 3"),
    "a literal block is foreign": ('{"literal|", 8, OTHER}', '{"literal|", 8, FOREIGN}'),
    "a start in a body is text": ("if (kind == START) {", "if (kind == START && state != BODY) {"),
    "a channel in a body is text": ("kind != INNER || state == BODY", "kind != INNER"),
    "a second message mark is text": ("kind == MESSAGE && state == WORDS", "kind == MESSAGE && state != NOTHING"),
    "the last bytes are not searched": ("at < walk->limit; at++", "at < walk->limit - 1; at++"),
    "a byte between two steps is not searched": ("next(walk->data, walk->at + 64", "next(walk->data, walk->at + 65"),
    "a hash decides": ("is_same(&words, &theirs)", "words.before_length == theirs.before_length"),
    "an empty call id is any call id": (
        *("!row->id_start == !example->id_start && ", ""),
        *("hash_bytes(row->id_start != 0, words", "hash_bytes(0, words"),
    ),
    "a long call id is cut": ("last - key > LONGEST_ID + 1", "last - key > 256"),
    "a call id needs no space before it": ("!is_space(key[-8])", "0"),
    "a call id may be the first of two": ("if (key) return 0;", "if (key) break;"),
    "a gap may be of any length": ("if (to - from > LONGEST_GAP) return 0;", ""),
    "the other spelling counts at the first byte only": ("data[at + place] == other[place])", "data[at] == *other)"),
    "sse2 searches every second part": ("part < 64; part += 16)", "part < 64; part += 32)"),
    "a repeated key is accepted": ("firsts[depth]; number < count;", "firsts[depth]; number < count - 1;"),
    "a key with an escape is compared": ("&has_escape)) || has_escape) return 0", "&has_escape))) return 0"),
    "a comma may end an object": ("state = NEXT;", "state = FIRST;"),
    "a control character is text": (
        *("*at >= 0x20 && *at != '\"'", "*at && *at != '\"'"),
        *("controls = _mm_set1_epi8(0x1F)", "controls = _mm_set1_epi8(0)"),
    ),
    "a number may begin with zeros": ("(*first == '0' && last > first + 1)", "0"),
    "a point may end a number": ("== first) return NULL;\n    return last", "== NULL) return NULL;\n    return last"),
    "any bracket closes": ("*at == openers[depth] + 2)", "(*at == ']' || *at == '}'))"),
    "something may follow an object": ("return at == end ? flags : 0;", "return flags;"),
    "a failure in a nested object counts": ('depth == 1 && is_word(&key, "error")', 'is_word(&key, "error")'),
    "a failure is any false member": ('*at == \'f\' && is_word(keys + count - 1, "ok")', "*at == 'f'"),
    "a hash is in the first slot": ("(stops_at_hash && table->hashes[slot] == hash)", "stops_at_hash"),
    "a long count overflows": ("end - at < 255 ? end : at + 255", "end"),
    "the third byte of a mark is the second one": ("(signs->marks + 2, at + 2)", "(signs->marks + 2, at + 1)"),
    "a bucket has no upper case": ("if (literal->folds) add_bucket", "if (0) add_bucket"),
    "a lone return needs a byte after it": ("(at + 1 == signs->size || data", "(at + 1 < signs->size && data"),
    "a literal may leave its body": ("*end = signs->data + message->end;", "*end = signs->data + signs->size;"),
    "a literal always ignores case": ("if (!literal->folds) return", "if (0) return"),
    "a sign is found in headers": ("if (at < message->body || at >= message->end)", "if (at >= message->end)"),
    "one literal is enough": ("if (literal->bit & ~signs->bits[row] &&", "if (!signs->bits[row] &&"),
    "short literals are forgotten": ("list = 0; list < 2", "list = 1; list < 2"),
    "the last byte with a bit is forgotten": ("byte < 128; byte++)", "byte < 127; byte++)"),
    "a cut character at a border is one": ("load32(at - 3), _mm256_set1", "load32(at - 2), _mm256_set1"),
    "a pair of bytes is no surrogate": ("BEYOND, BEYOND | SURROGATE, BEYOND", "BEYOND, BEYOND, BEYOND"),
    "the rest of a character is whole": ("(at < last + 3 &&", "(0 &&"),
    "a cut character is left behind": ("first > 3 ? first - 3 : 0", "first"),
    "what was cut before a step is whole": ("load32(at - 3), load32(at)), load32", "load32(at), load32(at)), load32"),
    "a character begins at a border": ("while (at > 0 && cut - at < 3", "while (0"),
    "any digit makes a key": ("(is_key && code == 0xFE0F && ", "(is_key && "),
    "a joiner may follow anything": ("(at - 4) : before);", "(at - 4) : 0x1F600);"),
    "a joiner may precede anything": ("|| !is_pictograph(signs, code_at(at + 3))) return 0;", ") return 0;"),
    "an overlong character is an emoji": ("return code >= 0x800 ? code : 0;", "return code;"),
    "a surrogate is a character": ("if (lead == 0xED) high = 0x9F;", ""),
    "an overlong character is one": ("if (lead == 0xE0) low = 0xA0;", ""),
    "a character beyond the last one": ("if (lead == 0xF4) high = 0x8F;", ""),
    "a cut character is one": ("lead > 0xF4 || end - at < length", "lead > 0xF4"),
    "the third byte does not count": ("place = (at[1] & 0x3Fu) << 6 | (at[2] & 0x3Fu)", "place = (at[1] & 0x3Fu) << 6"),
    "a message ends at its body": ("signs->messages[row + 1].start <= at", "signs->messages[row].end <= at"),
    "a point makes no integer": ("if (kind == NUMBER && part->kinds & INTEGER) fitting->is_doubtful = 1;", ""),
    "an escape in a word is compared": ("if (has_escape) fitting->is_doubtful = 1;", ""),
    "only the first missing member counts": ("place < required; place++", "place < (required > 0); place++"),
    "members of another object count": ("state = FIRST, seen[depth] = 0;", "state = FIRST;"),
    "a wrong object ends where it begins": ("[misfits[depth]].end = at - fitting->data", "[misfits[depth]].end += 0"),
    "the parts of a wrong value are judged": ("reason, at, at + 1), part = ANYTHING;", "reason, at, at + 1);"),
    "an unknown member is judged": ("key.text - 1, at), part = ANYTHING;", "key.text - 1, at);"),
    "items are judged as their array": ("? fitting->schemas->parts[part].items : part", "? part : part"),
    "any program is tried first": ("order[0] = program;", "order[place] = program;"),
    "an empty text is text": ("if (!last || last - at == 2) return NULL;", "if (!last) return NULL;"),
    "half of a pair is a character": ("if (half >= 'c') return 0;", "if (half >= 'c') return 6;"),
    "any two escapes are a pair": ("return half >= 'c' && half <= 'f' ? 12 : 0;", "return 12;"),
    "the first half is in upper case": ("lower(at[2]) != 'd' || at[3] <= '7'", "at[2] != 'D' || at[3] <= '7'"),
    "a lone return is usual": ("at[2] == '\\\\' && at[3] == 'n'", "1"),
    "a slash is usual": ("case '/': case 'b': case 'f': break;", "case '/': at += 2; continue; case 'b': break;"),
    "a delta may have half of a pair": ("if (surrogates == REFUSED) return 0;", ""),
    "an escape is no escape": ("*flags |= HAS_ESCAPE;", ""),
    "words have pipes": ('"\\"<>\\\\|"', '"\\"<>\\\\"'),
    "a name has any sign": ('strchr("_.:/-", byte)', 'strchr("_.:/-+", byte)'),
    "a number ends at a letter": ("return at < end && (*at == '.' || lower(*at) == 'e') ? NULL : at;", "return at;"),
    "a number has any length": ("at == first || at - first > digits ||", "at == first ||"),
    "an exponent has any length": ("at == first || at - first > 3) return", "at == first) return"),
    "a list has any length": ("if (*at++ != ',' || count == most)", "if (*at++ != ',')"),
    "any spaces follow a comma": ("if (!is_plain) break;", ""),
    "all texts begin at 0": ("place_of(records, at) - records->settings.at;\n    text->end", "0;\n    text->end"),
    "a plain body has its quotes": ("base + body[0] + is_plain", "base + body[0]"),
    "the text of another message": ("*text = (int32_t)texts + saying->text,", "*text = saying->text,"),
    "groups of other shapes are left": ("records->columns[GROUPS].count = groups;\n", ""),
    "a record that is cut leaves its messages": ("records->columns[column].count = counts[column];", ";"),
    "an escape is copied": ("*out++ = ESCAPES[at[1]];", "*out++ = at[1];"),
    "a string needs no closing quote": ("*at++ != '\"' || *--end != '\"'", "*at++ != '\"' || !--end"),
    "a stop token before a line is ignored": ("return !is_stopped && ", "return "),
    "an escaped opening token counts": ("opening < 1 || data[opening - 1] == '<'", "opening < 1"),
    "an opening token in an event counts": ("begin == opening || data[begin] != '{'", "1"),
    "an opening token far back counts": ("proof->opening >= reach", "proof->opening >= 0"),
    "a sign across two steps is missed": ("first - sign->longest + 1;", "first;"),
    "a sign before the block counts": ("last, sign) > first)", "last, sign))"),
    "an unfinished literal token counts": ("data[at + 8] == '>' ? at + 9", "data[at + 8] ? at + 9"),
    "the ID is its name": ("group[parts[part] - 1] : nothing;", "group[parts[0] ? parts[0] - 1 : 0] : nothing;"),
    "a digit of an escape is one higher": ("lower(at[place]) - 'a' + 10", "lower(at[place]) - 'a' + 9"),
    "a character of two bytes has three": ("code < 0x800 ? 1", "code < 0x7FF ? 1"),
    "a character of three bytes has four": ("code < 0x10000 ? 2", "code < 0xFFFF ? 2"),
    "the first half of a pair is lost": ("(code & 0x3FF) << 10 |", "(code & 0x3F) << 10 |"),
    "a long escape is an object's": ("at[1] == 'u' && has_long_escapes", "at[1] == 'u' && !has_long_escapes"),
    "a part may end after the data": ("part->end - base > size)", "part->end - base > size + 1)"),
    "any bytes are text": ("if (!is_utf8(at, end)) return -1;", ""),
    "eight bytes are ASCII if the first one is": ("eight & 0x8080808080808080u", "eight & 0x80u"),
    "every part is the text itself": ("if (part.flags & HAS_ESCAPE)", "if (0)"),
    "avx2 shifts by one": ("_mm256_movemask_epi8(high) << 32", "_mm256_movemask_epi8(high) << 31"),
}  # fmt: skip


def planted(changes: tuple[str, ...], folder: Path) -> ModuleType:
    """Return the module compiled from source with a fault. `changes` alternates original strings and replacements."""
    source = SOURCE
    for before, after in zip(changes[::2], changes[1::2], strict=True):
        assert source.count(before) == 1
        source = source.replace(before, after)
    (folder / "_fast.c").write_text(source)
    path = folder / "_fast.abi3.so"
    assert compile_module(folder / "_fast.c", path) == ""
    spec = spec_from_file_location("_fast", path, loader=ExtensionFileLoader("_fast", str(path)))
    assert spec and spec.loader
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def try_records() -> None:
    chance = random.Random(1)
    assert assert_string_objects(bodies_for(chance, 1000))
    for _ in range(300):
        assert_records(chance)
    for text in (*in_strings(), *(hostile(chance) for _ in range(150))):
        assert_steps(text)
    assert assert_texts(chance)


def try_everything() -> None:
    try_records()
    chance = random.Random(1)
    frame = b"<|start|>user%s<|message|>a<|end|>"
    ids = [b" call_id=%s" % (b"c" * size) for size in (0, 1, 3, 60, 64, 65, 90)] + [b"x call_id=c", b"xcall_id=c"]
    assert assert_objects(bodies_for(chance, 8000))
    assert_faults_of_bodies()
    for _ in range(150):
        assert_faults(bodies_for(chance, 12), schema(chance))
    assert_counts(b"\n" * 1000, [0, 700, 1000], 10)
    for size in (1, 20, 300):
        table(NumpyColumns(), chance, size)
    for level in LEVELS:
        with using(level):
            assert_defined(b"".join(frame % (b" name=%08x" % chance.getrandbits(32)) for _ in range(1000)))
            assert_defined(b"<|start|>user<|message|><|x|><|end|>")
            for number in range(200):
                data = soup(chance) + (b"<|x|><" + frame % chance.choice(ids)) * chance.randrange(3) + soup(chance)
                data += b"".join(frame % one + b" " * chance.choice((0, 1, 64, 65)) for one in chance.sample(ids, 3))
                data += TURNS[number : number + chance.randrange(200)]
                assert_defined(data)
                assert_as_numpy(data)
                at = chance.randrange(len(data))
                needle = data[at : at + chance.choice((1, 2, 7))]
                assert_matches(data, needle, needle.swapcase())
                assert_signs(signs_text(chance), chance)
                assert_emoji(emoji(chance))
            assert_proofs(chance, 60)
            for data in cut_characters():
                assert_signs(data, chance, (0, 0, BORDER, BORDER, BORDER, len(data)))


@pytest.mark.parametrize("name", FAULTS)
def test_each_fault_is_found(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module = planted(FAULTS[name], tmp_path)
    monkeypatch.setattr(native, "_module", lambda: module)
    with pytest.raises((AssertionError, ArithmeticError, LookupError, ValueError)):
        try_everything()
        for number in range(12):
            compare(number, monkeypatch)


def test_nothing_is_found_without_a_fault() -> None:
    try_everything()
