"""The parsers: any text is read, or stated to be unread. Nothing is allowed to be raised."""

import json
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from importlib import resources
from pathlib import Path

from ragmetrics_core import parsers
from ragmetrics_core.parsers import Answer, Hints, VerdictList, align, locate, split_sentences
from tests.fuzz.target import Target

__all__ = ["TARGETS", "answer_types"]

MESSY = Path(__file__).parents[1] / "parsers" / "corpus"


def answer_types() -> list[type[Answer]]:
    """Every public type of answer, each of which has a parser; a new one is among them by itself."""
    public = (getattr(parsers, name) for name in parsers.__all__)
    return [
        each for each in public if isinstance(each, type) and issubclass(each, Answer) and each is not Answer
    ]


def text_of(data: bytes) -> str:
    """The input as a text; bytes that are no UTF-8 become half characters, which replies have too."""
    return data.decode("utf-8", "surrogateescape")


def hints_of(first: bytes, text: str) -> Hints:
    """The first byte says how many items were asked about, and whether the sample has lines of the reply."""
    number = first[0] if first else 0
    return Hints.counting(number % 8, sample=(text[len(text) // 2 :],) if number >= 128 else ())


def reading(parser: type[Answer]) -> Target:
    """The parser of a type of answer."""

    def run(data: bytes) -> None:
        text = text_of(data[1:])
        hints = hints_of(data[:1], text)
        found = parser.read(text, hints)
        assert (found.value is None) == (found.rule == "unread")
        json.dumps(found.dropped, ensure_ascii=False).encode()
        if found.value is not None:
            assert parser.model_validate_json(found.value.model_dump_json()) == found.value
            found.value.abstention()
        if isinstance(found.value, VerdictList):
            aligned = align(hints.numbers, found.value.verdicts)
            assert len(aligned.verdicts) + len(aligned.missing) == len(hints.numbers)

    return Target(f"parser.{parser.__name__}", run, (), replies)


def sentences(data: bytes) -> None:
    """Sentences hold a letter or a digit each, in any language."""
    languages = [None, "en", "de", "zh", "hi", "xx"]
    split = split_sentences(text_of(data[1:]), languages[data[0] % len(languages)] if data else None)
    assert all(any(char.isalnum() for char in sentence) for sentence in split)


def quotes(data: bytes) -> None:
    """A quote is found within the chunk, or nowhere: the first line is the quote, the others are chunks."""
    quote, *chunks = text_of(data).split("\n")
    span = locate(quote, chunks)
    assert span is None or 0 <= span.start < span.end <= len(chunks[span.chunk - 1])


def words(data: bytes) -> None:
    """A word is a verdict or none, and so is any JSON value."""
    text = text_of(data)
    value: object = text
    with suppress(ValueError, RecursionError):
        value = json.loads(text)
    assert parsers.verdict_word(text) in {True, False, None}
    assert parsers.verdict_value(value) in {True, False, None}


def thoughts(data: bytes) -> None:
    """What is left is the end of the text, or its messages without their channels; never longer."""
    text = text_of(data)
    assert len(parsers.without_leading_thoughts(text)) <= len(text)


def refusals(data: bytes) -> None:
    """Any text is a refusal or none."""
    assert parsers.is_refusal(text_of(data)) in {True, False}


@cache
def replies() -> list[bytes]:
    """Messy replies that were written by hand for all parsers, and the forms that the prompts show."""
    files = [path.read_text(encoding="utf-8") for path in sorted(MESSY.glob("*.jsonl"))]
    cases = [json.loads(line) for text in files for line in text.split("\n") if line]
    messy = [bytes([case.get("count") or 0]) + encoded(case["reply"]) for case in cases]
    library = resources.files("ragmetrics_core.prompts") / "library"
    shown = [file.read_text(encoding="utf-8") for file in library.iterdir() if file.name.endswith(".md")]
    return messy + [b"\x03" + encoded(text) for text in sorted(shown)]


def encoded(text: str) -> bytes:
    """The bytes of a text, of half characters too."""
    return text.encode("utf-8", "surrogatepass")


def quoted() -> Iterator[bytes]:
    """Quotes of the messy replies, each with a chunk that has it in other letters."""
    for reply in replies():
        line = reply[1:81].replace(b"\n", b" ")
        yield b'"' + line + b'"\n' + reply.replace(b"\n", b" ").swapcase()


TARGETS = [
    *map(reading, answer_types()),
    Target("parser.split_sentences", sentences, (), replies),
    Target("parser.locate", quotes, (), quoted),
    Target("parser.verdict_word", words, (), lambda: [reply[1:] for reply in replies()], largest=200),
    Target("parser.without_leading_thoughts", thoughts, (), lambda: [reply[1:] for reply in replies()]),
    Target("parser.is_refusal", refusals, (), lambda: [reply[1:] for reply in replies()]),
]
