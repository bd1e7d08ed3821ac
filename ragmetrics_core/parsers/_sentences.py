"""Split text into sentences, in any script, without losing a letter."""

import json
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import cache, lru_cache
from importlib.resources import files
from itertools import chain, pairwise

from ragmetrics_core.texts.language_tags import base_of

__all__ = ["RULES", "split_sentences"]

RULES = json.loads(
    files("ragmetrics_core.parsers").joinpath("sentence_rules.json").read_text(encoding="utf-8")
)
_NEVER_END = frozenset(RULES["never_end"])
_BEFORE_NUMBER = frozenset(RULES["before_number"])
_BULLET = re.compile(rf"\s*(?:[{re.escape(RULES['bullets'])}]\s+|[•‣▪◦●]\s*)")
_NUMBERED = re.compile(r"\s*[(\[]?(\d{1,3})(?:[.)]|\])\s+(?=\S)")
_CLOSERS = "\"'”’»」』）)\\]】》*_"
# What sentencex leaves whole: full-width and other scripts' terminators need no space behind them.
_FULL_WIDTH = rf"[{RULES['terminators']}]+[{_CLOSERS}]*(?=[^\s{_CLOSERS}])"  # compiled where a text needs it
_WORD_BEFORE_DOT = re.compile(r"(?:^|[\s(\[{\"'“„«/])([^\s(\[{\"'“„«/]{1,12}|[^\W\d_]\.\s?[^\W\d_])\.\s*$")
_STARTS_NUMBER = re.compile(r"[(\[]?(?:\d|[IVXLC]+\b)")
_WINDOW = 2000
_WINDOW_END = re.compile(rf"[.!?][{_CLOSERS}]*\s+")
_ONLY_NUMBER = re.compile(r"\s*[(\[]?\d{1,3}[.)\]]\s*")
_DAY_BEFORE_MONTH = re.compile(r"(?:^|\s)\d{1,2}\.\s*$")
_MONTH = re.compile(rf"(?:{'|'.join(RULES['months'])})\b", re.IGNORECASE)
_INITIALS = re.compile(r"(?:^|\s)(?:[^\W\d_]\.\s?)*[^\W\d_]\.\s*$")
_SCRIPTS = (
    ("HIRAGANA", "ja"), ("KATAKANA", "ja"), ("CJK", "zh"), ("HANGUL", "ko"), ("DEVANAGARI", "hi"),
    ("ARABIC", "ar"), ("CYRILLIC", "ru"), ("GREEK", "el"), ("HEBREW", "he"), ("THAI", "th"),
    ("BENGALI", "bn"), ("TAMIL", "ta"), ("TELUGU", "te"),
    ("ARMENIAN", "hy"), ("KHMER", "km"), ("MYANMAR", "my"), ("ETHIOPIC", "am"), ("GUJARATI", "gu"),
    ("KANNADA", "kn"), ("MALAYALAM", "ml"),
)  # fmt: skip


def split_sentences(text: str, language: str | None = None) -> tuple[str, ...]:
    """Split a text into its sentences, in order, each without the space and list marker around it.

    The package sentencex finds the ends. Our rules rejoin sentences that it splits after an abbreviation, an
    initial or "No." before a number, and split at full-width and other scripts' terminators. Every line break
    ends a sentence, even in a hard-wrapped paragraph. A quotation stays within its sentence. Parts without
    letters and digits are not sentences. All letters and digits of the text are kept, except list numbers.

    Args:
        text: any text; lone surrogates become U+FFFD.
        language: a tag such as "de" or "de-AT"; None guesses by script (Latin letters: English). Unknown tags
            fall back to English.

    >>> split_sentences("See Fig. 3 in approx. 2 cases. It works.")
    ('See Fig. 3 in approx. 2 cases.', 'It works.')
    """
    if not text.isascii():
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    lines = [line for line in text.splitlines() if line and _has_content(line)]
    listed = {int(found[1]) for line in lines if (found := _NUMBERED.match(line))}
    code = base_of(language) or _guess(text)
    joined = [whole.strip() for line in lines for whole in _joined(_pieces(_unlisted(line, listed), code))]
    return tuple(filter(_has_content, joined))


def _guess(text: str) -> str:
    """The default language for the script of the text's first letters."""
    if text.isascii():
        return "en"
    sample = [char for char in text[:2000] if char.isalpha()][:200]
    counts = Counter(code for char in sample if (code := _language_of(char)))
    if not counts or counts.total() * 3 < len(sample):
        return "en"
    return "ja" if "ja" in counts else counts.most_common(1)[0][0]


@lru_cache(maxsize=4096)
def _language_of(letter: str) -> str | None:
    """The default language for a letter's script; None for Latin and unlisted scripts."""
    name = unicodedata.name(letter, "")
    return next((code for script, code in _SCRIPTS if name.startswith(script)), None)


def _unlisted(line: str, listed: set[int]) -> str:
    """The line without its list marker."""
    if (bullet := _BULLET.match(line)) is not None and _has_content(line[bullet.end() :]):
        line = line[bullet.end() :]
    found = _NUMBERED.match(line)
    # "3. Oktober" at the start of a line is a date: a number is a marker when it is 1 or has a neighbour.
    if found is not None and (int(found[1]) == 1 or {int(found[1]) - 1, int(found[1]) + 1} & listed):
        return line[found.end() :] if _has_content(line[found.end() :]) else line
    return line


def _pieces(line: str, code: str) -> Iterable[str]:
    if not _has_content(line):
        return ()
    if line.isascii():  # none of the terminators below is
        return _segments(line, code)
    # Split first what needs no rules: on a long line of Chinese sentencex takes quadratic time.
    ends = [found.end() for found in re.finditer(_FULL_WIDTH, line)]
    parts = [line[start:end] for start, end in pairwise([0, *ends, len(line)])]
    return chain.from_iterable([_segments(part, code) for part in parts])


def _segments(text: str, code: str) -> Iterable[str]:
    """The segments of sentencex, window by window, because quotation marks take it quadratic time."""
    return (_segmenter()(code, text) or [text]) if len(text) <= _WINDOW else _of_windows(text, code)


def _of_windows(text: str, code: str) -> Iterator[str]:
    kept = ""
    for start, end in _windows(text):
        pieces = _segmenter()(code, text[start:end]) or [text[start:end]]
        yield from (kept + piece if place == 0 else piece for place, piece in enumerate(pieces[:-1]))
        last = pieces[-1] if len(pieces) > 1 else kept + pieces[-1]
        is_end = end == len(text) or _WINDOW_END.search(text, max(end - 10, 0), end) is not None
        kept = "" if is_end else last
        if is_end:
            yield last
    if kept:
        yield kept


@cache
def _segmenter() -> Callable[[str, str], list[str]]:
    """The function of sentencex, loaded at first use."""
    from sentencex import segment

    splits: Callable[[str, str], list[str]] = segment
    return splits


def _windows(text: str) -> Iterator[tuple[int, int]]:
    """Parts of at most 2,000 characters that end at a possible sentence end, or at least at a word end."""
    start = 0
    while len(text) - start > _WINDOW:
        ends = [found.end() for found in _WINDOW_END.finditer(text, start, start + _WINDOW)]
        space = text.rfind(" ", start + 1, start + _WINDOW) + 1
        end = ends[-1] if ends else space or start + _WINDOW
        yield start, end
        start = end
    yield start, len(text)


def _joined(pieces: Iterable[str]) -> list[str]:
    """Join the pieces of a sentence; a piece without letters and digits belongs to the piece before."""
    wholes: list[str] = []
    before = ""
    for piece in pieces:
        if wholes and (_is_unfinished(before, piece) or not _has_content(piece)):
            wholes[-1] += piece
        else:
            wholes.append(piece)
        before = piece
    return wholes


def _is_unfinished(before: str, after: str) -> bool:
    """Whether the first piece ends with the dot of an abbreviation."""
    if "." not in before[-4:]:
        return False
    tail = before[-40:]
    last = tail.split()[-1]
    # most sentences end with a word that stands for itself: it is alone, and needs no rule
    if len(last) > 2 and (plain := last[:-1]).isalpha() and plain.islower():
        if plain == "ms":
            return False  # milliseconds; the title is written "Ms."
        return plain in _NEVER_END or (plain in _BEFORE_NUMBER and bool(_STARTS_NUMBER.match(after.lstrip())))
    if _ONLY_NUMBER.fullmatch(before):
        return True
    found = _WORD_BEFORE_DOT.search(tail)
    if found is None:
        return False
    if _DAY_BEFORE_MONTH.search(tail) and _MONTH.match(after.lstrip()):
        return True
    word = found[1].casefold()
    if word in _NEVER_END or (
        _INITIALS.search(tail) and len(found[1].rstrip(".")) == 1 and found[1].isupper() and found[1] != "I"
    ):
        return True
    return word in _BEFORE_NUMBER and _STARTS_NUMBER.match(after.lstrip()) is not None


def _has_content(text: str) -> bool:
    return text[:1].isalnum() or any(map(str.isalnum, text))
