"""Which JSON of a reply counts, and which rule found it."""

import pytest

from ragmetrics_core.parsers._json_text import Fit, candidates, read_json
from ragmetrics_core.parsers._loose_json import read_loose


def shaped(value):
    return Fit(value["a"]) if isinstance(value, dict) and "a" in value else None


def found(text):
    return [(candidate.rule, candidate.value) for candidate in candidates(text)]


def test_strict_json_is_tried_first():
    assert found(' {"a": 1} ')[0] == ("json", {"a": 1})


def test_of_two_objects_the_last_one_that_fits_counts():
    reading = read_json('{"a": "draft"} then {"a": "answer"} and {"b": "note"}', shaped, str)

    assert (reading.value, reading.rule) == ("answer", "block")


@pytest.mark.parametrize(
    ("text", "value", "notes"),
    [
        ('{"a": "x"}', "x", ()),
        ('Draft: {"a": "x"}. Again: {"a": "x"}.', "x", ()),  # the same twice is one answer
        ('{"a": "x"} no, {"a": "y"}', "y", ("of 2 different answers in JSON the last one was read",)),
        (
            '{"a": "x"} {"a": "y"} {"a": "x"} {"b": 1} {"a": "z"}',
            "z",
            ("of 3 different answers in JSON the last one was read",),
        ),
        (
            '```\n{"a": "x"}\n```\n```\n{"a": "y"}\n```',
            "y",
            ("of 2 different answers in JSON the last one was read",),
        ),
        ("{'a': 'x'} no, {'a': 'y'}", "y", ("of 2 different answers in JSON the last one was read",)),
    ],
)
def test_a_note_says_which_of_several_answers_was_read(text, value, notes):
    reading = read_json(text, shaped, str)
    assert (reading.value, reading.dropped) == (value, notes)


def test_an_object_comes_before_a_later_array():
    assert found('{"a": 1}\n[2]')[0] == ("block", {"a": 1})


def test_brackets_in_strings_do_not_end_a_block():
    assert ("block", {"a": "use } here"}) in found('so {"a": "use } here"} it is')


def test_an_array_in_the_middle_of_a_sentence_is_no_answer():
    assert found("It lists [1, 2] among others") == []


@pytest.mark.parametrize("text", ["NaN", "[Infinity]", '{"a": -Infinity}', '{"a": 1e999}', '{"a": NaN}'])
def test_numbers_that_are_not_finite_are_refused(text):
    assert read_json(text, shaped, object) is None


def test_nothing_in_a_reply_is_evaluated(tmp_path):
    written = tmp_path / "written"

    path = str(written)
    list(candidates(f'{{"a": open({path!r}, "w").write("x"), "b": __import__("os").mkdir({path!r})}}'))

    assert not written.exists()


def test_nesting_beyond_64_levels_is_not_read():
    deep = "[" * 65 + "1" + "]" * 65

    assert read_loose(deep, 0).failed
    assert not read_loose(deep[1:-1], 0).failed


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("{'a': 'it's fine'}", {"a": "it's fine"}),
        ('{"a": [1, 2,],}', {"a": [1, 2]}),
        ("{a: True, b: None}", {"a": True, "b": None}),
        ("[“x”, ‘y’]", ["x", "y"]),
        ('{"a": "x", ...}', {"a": "x"}),
        ('["x", ...]', ["x"]),
        ('{"a": {"x", "y"]}', {"a": ["x", "y"]}),
        ('["x"\n"y"]', ["x", "y"]),
        ('{"a": 1 // one\n}', {"a": 1}),
        (r'["\u00fc\n\"q\""]', ['ü\n"q"']),
    ],
)
def test_what_models_do_to_json_is_read(text, value):
    assert read_loose(text, 0).value == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('["x", "y', ["x"]),
        ("[1, 2", [1]),
        ('{"a": "x", "b": "y', {"a": "x"}),
        ('{"a": [{"b": 1}, {"b"', {"a": [{"b": 1}]}),
    ],
)
def test_of_a_cut_text_only_what_is_complete_counts(text, value):
    read = read_loose(text, 0)

    assert (read.value, read.cut) == (value, True)


@pytest.mark.parametrize("text", ["[", '{"a"', '{"a": [', '["x'])
def test_a_text_cut_before_anything_was_complete_says_nothing(text):
    reading = read_json(text, Fit, object)
    assert (reading.value, reading.cut) == (None, True)


@pytest.mark.parametrize("text", ["[see above]", "[a, b]", "{A, B}", "{x}", '["a" "b"]'])
def test_brackets_of_prose_are_no_json(text):
    assert read_loose(text, 0).failed
