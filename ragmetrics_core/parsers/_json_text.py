"""The JSON in a reply: strict, fenced, inside the text, or repaired; with the rule that found it."""

import html
import json
import math
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from enum import Enum
from functools import lru_cache
from itertools import islice
from typing import Any, Final, NamedTuple, TypeVar

from ragmetrics_core.parsers._lazy_pattern import lazy
from ragmetrics_core.parsers._loose_json import read_loose
from ragmetrics_core.parsers._quoting import is_quoted_value
from ragmetrics_core.parsers._reading import Hints, Reading
from ragmetrics_core.shapes import Json

__all__ = [
    "MISSING",
    "Candidate",
    "Fit",
    "Missing",
    "candidates",
    "fits",
    "fold",
    "json_spans",
    "outside_json",
    "pick",
    "read_json",
    "strict_json",
]

T = TypeVar("T")

_LOOSE_PASSES = 3
_MOST_BLOCKS = 1000
_STRUCTURE = lazy(r'[{}\[\]"\\]')
_OPENING = lazy(r"[{\[]")
_LIKELY_OPENING = lazy(r"\{\s*(?:[\"'“”‘`]|\w+\s*[:：=])|\[\s*[\"'“‘{]")
# The same, or the very end of a reply that was cut behind its first bracket.
_LIKELY_CUT = lazy(r"\{\s*(?:[\"'“”‘`]|\w+\s*[:：=]|$)|\[\s*(?:[\"'“‘{]|$)")
_QUOTED_NOTE = "JSON that is quoted from the sample does not count"
_MOST_VALUES = 50
# The rules that give one value after another, the last of the reply first.
_LAST_OF_SEVERAL = frozenset({"fenced", "block", "repair"})
_NO_HINTS = Hints()
# The keys of the forms that the prompts ask for: what stands below one of them is wrapped in nothing.
_FORMS = frozenset(
    {"verdicts", "statements", "entities", "questions", "relevant", "sentences", "rating", "tp", "fp", "fn"}
)
_CUT_NOTE = "the reply ends in the middle of its JSON"
_LANGUAGE = lazy(r"[ \t]*[A-Za-z0-9_+-]*[ \t]*(?:\n|(?=[{\[]))")
_BEFORE_ARRAY = lazy(r"(?:^|[:：=`])[\s*_`]*$")
_AFTER_ARRAY = lazy(r"[\s.;,`*_]*$")
_CITATION = lazy(r"\[\s*\d{1,9}\s*\]")
_BREAKS = lazy(r"[\s_\-]+")


class Missing(Enum):
    """The type of `MISSING`: a value that is not there, which is something else than a null."""

    MISSING = "missing"


MISSING: Final = Missing.MISSING


class Candidate(NamedTuple):
    """A value that may be the answer, and the rule that found it."""

    rule: str
    value: Json
    cut: bool = False


class Fit(NamedTuple):
    """A value that has the wanted shape, and what in it does not count."""

    value: object
    dropped: tuple[str, ...] = ()


Shape = Callable[[Json], "Fit | None"]


def read_json(
    text: str,
    shape: Shape,
    wanted: type[T],
    *,
    hints: Hints = _NO_HINTS,
    arrays: bool = True,
    cut_shape: Shape | None = None,
) -> Reading[T] | None:
    """Read the JSON of a reply that has the wanted shape.

    Args:
        text: the cleaned reply.
        shape: turns a JSON value into what is wanted, or None when it is something else.
        wanted: the class that `shape` makes.
        hints: what the prompt showed: a value that stands in the sample is quoted and does not count.
        arrays: whether a bare array inside other text counts ("[2] and [5]" are no arrays of an answer).
        cut_shape: the shape of JSON that the text ends in the middle of; without one such a text is unread.

    Returns:
        The reading of the first candidate that fits, itself or one level inside; None when none fits. Where
        the text ends inside its JSON or is JSON of another form, no other rule may read it: the reading says
        so.
    """
    cut = quoted = False
    ends_inside: bool | None = None  # looked for once, however many candidates there are
    found_in = candidates(text, arrays=arrays)
    for found in found_in:
        if is_quoted_value(found.value, hints):
            quoted = True
            continue
        if found.rule != "json" and ends_inside is None:
            cut = ends_inside = _ends_inside(text, arrays=arrays)
            if cut and cut_shape is None:
                return Reading(None, "unread", (_CUT_NOTE,), cut=True)
            shape = cut_shape if cut and cut_shape is not None else shape
        for value in _views(found.value):
            fit = shape(value)
            if fit is not None and isinstance(fit.value, wanted):
                others = _differing(found_in, found.rule, shape, wanted, fit.value, hints)
                notes = (*(_CUT_NOTE,) * cut, *(_QUOTED_NOTE,) * quoted, *others)
                return Reading(value=fit.value, rule=found.rule, dropped=fit.dropped + notes, cut=cut)
    if cut or _ends_inside(text, arrays=arrays):
        return Reading(None, "unread", (_CUT_NOTE,), cut=True)
    return Reading(None, "unread", ("its JSON has another form",)) if _is_all_json(text) else None


def _differing(
    rest: Iterator[Candidate], rule: str, shape: Shape, wanted: type[T], value: T, hints: Hints
) -> Iterator[str]:
    """A note about the other answers of a reply that the same rule finds, where they say something else."""
    if rule not in _LAST_OF_SEVERAL:
        return
    others: list[T] = []
    for found in islice(rest, _MOST_VALUES):
        if found.rule != rule:
            break
        if not is_quoted_value(found.value, hints):
            fit = next((fit for view in _views(found.value) if (fit := shape(view)) is not None), None)
            if fit is not None and isinstance(fit.value, wanted) and fit.value not in (value, *others):
                others.append(fit.value)
    if others:
        yield f"of {len(others) + 1} different answers in JSON the last one was read"


def fits(text: str, shape: Shape, wanted: type[T], hints: Hints, *, arrays: bool = True) -> Iterator[T]:
    """Every value of the wanted shape in a reply, for readers that must know whether they agree."""
    for found in islice(candidates(text, arrays=arrays), _MOST_VALUES):
        if not is_quoted_value(found.value, hints):
            fit = next((fit for value in _views(found.value) if (fit := shape(value)) is not None), None)
            if fit is not None and isinstance(fit.value, wanted):
                yield fit.value


def outside_json(text: str) -> str:
    """The text without its objects and arrays."""
    parts: list[str] = []
    position = 0
    for start, end in sorted(json_spans(text)):
        if start >= position:
            parts.append(text[position:start])
        position = max(position, end)
    return " ".join([*parts, text[position:]])


def _is_all_json(text: str) -> bool:
    """Whether a reply is an object or an array, in a fence and behind an introduction or not."""
    if not (inside := [span for span in deque(_balanced(text), _MOST_BLOCKS) if text[span.start] == "{"]):
        return text[:1] == "[" and (value := strict_json(text)) is not None and isinstance(value[0], list)
    if not any(strict_json(text[span.start : span.end]) for span in inside):
        return False
    around = text[: inside[0].start].replace("```json", "") + text[inside[-1].end :]
    lines = [line for line in around.replace("```", "").split("\n") if line.strip(" \t.,;:!*_`")]
    return len(lines) <= 1 and all(line.rstrip(" *_").endswith((":", "：")) for line in lines)


def candidates(text: str, *, arrays: bool = True) -> Iterator[Candidate]:
    """The JSON values in a reply, in the order in which they are tried.

    "json": the whole text. "fenced": the content of a code fence. "json_lines": all objects of the text,
    when there are several. "block": a balanced object or array. "repair": the same, read loosely. Among
    several of a kind the last comes first, and objects come before arrays: a model echoes the prompt's
    example before its answer, and corrects its draft after it.
    """
    if whole := strict_json(text):
        yield Candidate("json", whole[0])
        if isinstance(whole[0], str) and (inner := strict_json(whole[0])):
            yield Candidate("json", inner[0])
    yield from _fenced(text)
    yield from _blocks(text, arrays=arrays)
    yield from _repaired(text, arrays=arrays)
    if "&quot;" in text or "&#34;" in text or "&#39;" in text:
        plain = html.unescape(text)
        if whole := strict_json(plain):
            yield Candidate("repair", whole[0])
        for found in _blocks(plain, arrays=arrays):
            yield Candidate("repair", found.value)
        yield from _repaired(plain, arrays=arrays)


@lru_cache(maxsize=1024)
def fold(key: str) -> str:
    """A key without case, underscores and hyphens: "True_Positives" is "true positives"."""
    return _BREAKS.sub(" ", key.strip()).casefold()


def pick(mapping: Mapping[str, Json], *names: str) -> Json | Missing:
    """The value under the first of these folded names that the mapping has; MISSING when it has none."""
    keys = tuple(mapping)
    # the objects of one reply have the same few keys
    by_name = _by_name(keys) if len(keys) <= 16 else _by_name.__wrapped__(keys)
    for name in names:
        if name in by_name:
            return mapping[by_name[name]]
    return MISSING


@lru_cache(maxsize=256)
def _by_name(keys: tuple[str, ...]) -> dict[str, str]:
    """The keys by their folded names; of two with one name, the first."""
    return {fold(str(key)): key for key in reversed(keys)}


def _views(value: Json) -> Iterator[Json]:
    """The value and what is one level inside: models wrap their answer in "result" or "arguments"."""
    yield value
    if isinstance(value, dict):
        yield from (inner for inner in value.values() if isinstance(inner, dict))
        if len(value) == 1 and fold(next(iter(value))) not in _FORMS:
            yield from (inner for inner in value.values() if isinstance(inner, list))
    elif isinstance(value, list) and len(value) == 1 and isinstance(value[0], (dict, list)):
        yield value[0]


def _refuse(constant: str) -> Any:
    raise ValueError(constant)


def _object(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    """The object; a key with two different values makes it none, since neither is sure to be meant."""
    read = dict(pairs)
    if len(read) < len(pairs) and any(read[key] != value for key, value in pairs):
        raise ValueError("a key with two values")
    return read


def _finite(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise ValueError(digits)
    return number


_STRICT = json.JSONDecoder(parse_constant=_refuse, parse_float=_finite, object_pairs_hook=_object)


def strict_json(text: str) -> tuple[Json] | None:
    """The value of a text that is JSON and nothing else, in a tuple (the value may be null)."""
    try:
        return (_STRICT.decode(text.strip()),)
    except (ValueError, RecursionError):
        return None


def _fenced(text: str) -> Iterator[Candidate]:
    parts = text.split("```")
    # Without its closing fence the last part is a cut reply; "repair" reads it.
    closed = parts[1 : len(parts) - 1 + len(parts) % 2 : 2]
    for part in reversed(closed):
        language = _LANGUAGE.match(part)
        if content := strict_json(part[language.end() :] if language else part):
            yield Candidate("fenced", content[0])


class _Span(NamedTuple):
    start: int
    end: int


def _blocks(text: str, *, arrays: bool) -> Iterator[Candidate]:
    read: list[tuple[str, Json]] = []
    for span in deque(_balanced(text), _MOST_BLOCKS):
        is_wanted = text[span.start] == "{" or (arrays and _stands_alone(text, span))
        if is_wanted and (inside := strict_json(text[span.start : span.end])):
            read.append((text[span.start], inside[0]))
    objects = [value for opening, value in read if opening == "{"]
    if len(objects) > 1:
        yield Candidate("json_lines", objects)
    for value in reversed(objects):
        yield Candidate("block", value)
    for opening, value in reversed(read):
        if opening == "[":
            yield Candidate("block", value)


def _balanced(text: str) -> Iterator[_Span]:
    """The outermost balanced blocks; brackets inside their strings do not count. One pass."""
    stack: list[str] = []
    start = 0
    in_string = False
    skip = -1
    for found in _STRUCTURE.finditer(text):
        at = found.start()
        char = found[0]
        if at == skip:
            continue
        if in_string:
            if char == "\\":
                skip = at + 1
            elif char == '"':
                in_string = False
        elif char in "{[":
            if not stack:
                start = at
            stack.append("}" if char == "{" else "]")
        elif stack and char == '"':
            in_string = True
        elif stack and char == stack[-1]:
            stack.pop()
            if not stack:
                yield _Span(start, at + 1)


def _stands_alone(text: str, span: _Span) -> bool:
    """Whether an array stands on lines of its own or after a colon, not in the middle of a sentence.

    A number alone in brackets names a sentence of the contexts: "the contexts say otherwise: [1]".
    """
    if _CITATION.fullmatch(text, span.start, span.end):
        return False
    before = text[max(span.start - 200, 0) : span.start].rpartition("\n")[2]
    after = text[span.end : span.end + 40].partition("\n")[0]
    return _BEFORE_ARRAY.search(before) is not None and _AFTER_ARRAY.match(after) is not None


def _repaired(text: str, *, arrays: bool) -> Iterator[Candidate]:
    found: list[tuple[_Span, Candidate]] = []
    work = _LOOSE_PASSES * len(text) + 1000
    opening = _OPENING.search(text)
    while opening is not None and work > 0:
        start = opening.start()
        read = read_loose(text, start)
        # What failed attempts read is charged, so that many openings of nothing stay a few passes over the
        # text.
        work -= read.work
        end = start + 1 if read.failed else read.end
        if not read.failed:
            found.append((_Span(start, end), Candidate("repair", read.value, read.cut)))
        opening = _OPENING.search(text, end)
    chosen = [
        item for item in found if text[item[0].start] == "{" or (arrays and _stands_alone(text, item[0]))
    ]
    chosen.sort(key=lambda item: (item[1].cut, text[item[0].start] == "[", -item[0].start))
    yield from (candidate for _, candidate in chosen)


def json_spans(text: str) -> list[tuple[int, int]]:
    """Where the objects and arrays of a text begin and end, those that are no JSON to the letter included."""
    spans = [
        (span.start, span.end)
        for span in deque(_balanced(text), _MOST_BLOCKS)
        if strict_json(text[span.start : span.end])
    ]
    work = _LOOSE_PASSES * len(text) + 1000
    opening = _LIKELY_OPENING.search(text)
    while opening is not None and work > 0:
        read = read_loose(text, opening.start())
        work -= read.work
        if not read.failed or (read.cut and opening.start() == 0):
            spans.append((opening.start(), len(text) if read.cut else read.end))
        opening = _LIKELY_OPENING.search(text, opening.start() + 1 if read.failed else read.end)
    return spans


def _ends_inside(text: str, *, arrays: bool) -> bool:
    """Whether the text ends before a value in it does."""
    work = _LOOSE_PASSES * len(text) + 1000
    opening = _LIKELY_CUT.search(text)
    while opening is not None and work > 0:
        start = opening.start()
        read = read_loose(text, start)
        if read.cut and (arrays or text[start] == "{"):
            return True
        work -= read.work
        opening = _LIKELY_CUT.search(text, start + 1 if read.failed else read.end)
    return False
