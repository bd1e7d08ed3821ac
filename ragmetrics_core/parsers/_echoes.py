"""A reply that repeats its prompt: the instruction and the form are the library's words, not the judge's."""

import re
from functools import lru_cache
from typing import Literal, NamedTuple

from ragmetrics_core.parsers._lazy_pattern import lazy
from ragmetrics_core.parsers._reading import Hints
from ragmetrics_core.parsers._reply_text import has_content, line_key, sample_lines

__all__ = ["is_form", "without_echo"]

_LONG = 25
_LONGEST = 400
_LEAST_HALF = 12
_MARKS = " >*`"
_JSON = '{["'
# A line of the form that a judge may well write itself.
_MAY_BE_MEANT = lazy(r"\W*(?:final verdict|insufficient)", re.IGNORECASE)
_TAG = lazy(r"</?[a-z_]+>")
_ROLE = lazy(r"\s*(?:system|user|assistant|human|ai)\s*:\s*", re.IGNORECASE)

Kind = Literal["form", "sample", "blank", "own"]


class _Form(NamedTuple):
    """The lines of a prompt's own text.

    Attributes:
        anchors: the lines, as they are, by which an echo is known: nobody writes them by chance.
        keys: all of its lines, as copies are known.
        anchor_keys: the anchors among them.
        tags: its fences.
        examples: lines without JSON that a reply as a whole never is, unless it is the prompt's example.
        last: its last line.
    """

    anchors: tuple[str, ...]
    keys: frozenset[str]
    anchor_keys: frozenset[str]
    tags: tuple[str, ...]
    examples: frozenset[str]
    last: str


def is_form(text: str, hints: Hints) -> bool:
    """Whether a reply is nothing but the example that its prompt shows, in a fence or not.

    A short one without a word in it ("[1, 2]") is what a judge may mean.
    """
    if not hints.form or len(text) > _LONGEST:
        return False
    if "`" in text:
        text = text.replace("```json", "").replace("```", "")
    text = text.strip()
    if text[:1] not in _JSON and _key(text) in _form(hints.form).examples:
        return True
    squeezed = "".join(text.split())
    return len(squeezed) >= _LONG and squeezed in _squeezed(hints.form)


def without_echo(text: str, hints: Hints) -> str:
    """The reply without a copy of the prompt's own text, and of the sample as it was shown in between.

    What a judge quotes from the sample without the instruction around it is no echo, and stays.
    """
    if not hints.form:
        return text
    form = _form(hints.form)
    left = _without_copies(text, form, hints) if _is_echo(text, form, hints) else text
    return "" if _is_example(left, form) else left


def _without_copies(text: str, form: _Form, hints: Hints) -> str:
    for anchor in form.anchors:
        text = text.replace(anchor, f"\n{anchor}\n")
    lines = [part for line in text.split("\n") for part in _untagged(line, form)]
    keys = [_key(line) for line in lines]
    kinds = _kinds(lines, keys, form, hints)
    leads = [kind == "own" and _is_lead(line) for line, kind in zip(lines, kinds, strict=True)]
    removed = _removed(keys, kinds, leads, form)
    following = False
    for place in reversed(range(len(lines))):
        removed[place] = removed[place] or (leads[place] and following)
        following = removed[place] if kinds[place] != "blank" else following
    return "\n".join(
        line for line, gone in zip(lines, removed, strict=True) if not gone and not _ROLE.fullmatch(line)
    ).strip()


def _is_lead(line: str) -> bool:
    """Whether a line only announces what follows: "Sure, here it is:", or a role of a chat template."""
    return line.rstrip(" *_").endswith((":", "："))


def _is_example(text: str, form: _Form) -> bool:
    """Whether each line of a reply is one of the prompt's example, but for one that announces it."""
    lines = [line for line in text.split("\n") if has_content(line) and not _is_lead(line)]
    keys = [_key(line) for line in lines]
    return any(len(key) >= _LEAST_HALF for key in keys) and all(key in form.examples for key in keys)


def _untagged(line: str, form: _Form) -> list[str]:
    """A line with the fences that stand in it on lines of their own; one of the instruction is left alone."""
    words = line.strip()
    if any(anchor.endswith(words) or anchor.startswith(words) for anchor in form.anchors):
        return [line]
    for tag in form.tags:
        if tag in line:
            line = line.replace(tag, f"\n{tag}\n")
    return line.split("\n")


def _is_echo(text: str, form: _Form, hints: Hints) -> bool:
    if any(anchor in text for anchor in form.anchors):
        return True
    # a fence is the prompt's own, unless the sample holds one: then it is a copy of the sample, read as such
    if any(tag in text and not any(tag in shown for shown in hints.sample) for tag in form.tags):
        return True
    first = text.partition("\n")[0].strip()
    last = text.rpartition("\n")[2].strip()
    return any(
        (len(first) >= _LONG and anchor.endswith(first)) or (len(last) >= _LONG and anchor.startswith(last))
        for anchor in form.anchors
    )


def _kinds(lines: list[str], keys: list[str], form: _Form, hints: Hints) -> list[Kind]:
    """What each line is; the first and the last one may be halves of a line of the prompt."""
    items = frozenset(
        line_key(f"{number}. {text}") for number, text in zip(hints.numbers, hints.items, strict=False)
    )
    shown = sample_lines(hints.sample) | sample_lines(hints.shown) | items
    kinds: list[Kind] = [
        "form" if key in form.keys else "sample" if key in shown else "own" if has_content(key) else "blank"
        for key in keys
    ]
    filled = [place for place, kind in enumerate(kinds) if kind != "blank"]
    if filled and kinds[filled[0]] == "own":
        first = keys[filled[0]]
        if any(line.endswith(first) for line in form.keys):
            kinds[filled[0]] = "form"
        elif any(line.endswith(first) for line in shown):
            kinds[filled[0]] = "sample"
    last = keys[filled[-1]] if filled else ""
    if filled and kinds[filled[-1]] == "own" and (len(last) >= _LEAST_HALF or last.startswith("<")):
        if any(line.startswith(last) for line in form.keys):
            kinds[filled[-1]] = "form"
        elif any(line.startswith(last) for line in shown):
            kinds[filled[-1]] = "sample"
    return kinds


def _removed(keys: list[str], kinds: list[Kind], leads: list[bool], form: _Form) -> list[bool]:
    """Which lines are an echo: runs of the form with an anchor, its fences, the sample in between."""
    removed = [False] * len(keys)
    run: list[int] = []
    for place, kind in enumerate((*kinds, "own")):
        if kind == "form":
            run.append(place)
        elif kind != "blank":
            is_echo = any(keys[one] in form.anchor_keys or keys[one] not in form.keys for one in run)
            for one in run:
                removed[one] = is_echo or _TAG.fullmatch(keys[one]) is not None or keys[one].endswith(":")
            run = []
    inside, ended = True, False
    for place, kind in enumerate(kinds):
        if removed[place]:
            inside, ended = True, ended or keys[place] == form.last
        elif kind == "sample" and inside:
            ahead = next((p for p in range(place, len(keys)) if kinds[p] not in {"sample", "blank"}), None)
            removed[place] = removed[ahead] if ahead is not None else not ended
        elif kind != "blank" and not leads[place]:
            inside = False
    return removed


@lru_cache(maxsize=256)
def _squeezed(pieces: tuple[str, ...]) -> str:
    """The pieces without spaces, a line each."""
    return "\n".join(["".join(piece.split()) for piece in pieces])


@lru_cache(maxsize=256)
def _form(pieces: tuple[str, ...]) -> _Form:
    lines = [line.strip() for piece in pieces for line in piece.split("\n") if line.strip()]
    anchors = [line for line in lines if len(line) >= _LONG and not _MAY_BE_MEANT.match(line)]
    tags = dict.fromkeys(tag for line in lines if _TAG.fullmatch(line) for tag in (line,))
    return _Form(
        tuple(dict.fromkeys(anchors)),
        frozenset(map(_key, lines)),
        frozenset(map(_key, anchors)),
        tuple(tags),
        frozenset(
            key
            for line in lines
            if len(key := _key(line)) >= _LEAST_HALF and key[0] not in _JSON and not _MAY_BE_MEANT.match(line)
        ),
        _key(lines[-1]) if lines else "",
    )


def _key(line: str) -> str:
    return line_key(line).lstrip(_MARKS).rstrip(_MARKS.replace(">", ""))
