"""Inputs made of other inputs: pieces put in and taken out, and JSON values put in place of others."""

import json
import random
from collections.abc import Callable, Sequence
from typing import Any

__all__ = ["mutated", "stretched"]

PIECES = [
    "{", "}", "[", "]", '"', "'", ":", ",", "\\", "\n", "\r\n", "\n\n", " ", "\t", "\0", "\ufeff", "“", "”",
    "```json\n", "```", "<think>", "</think>", "1. ", "2) ", "- ", "* ", "| ", "|---|", "**", "#",
    "Statement 1: ", "Verdict: ", "Final verdicts: ", "Yes", "no. ", "partially", "true", "null", "NaN",
    "-Infinity", "1e999", "-0", "99999999999999999999", "3-5", "0.5", "TP: ", '"FP": []', '"statements": [',
    '"verdicts"', '"number": 1', '"verdict": "yes"', '"relevant"', '"rating": 3', "Insufficient Information",
    "None", "...", "?", "。", "是", "हाँ", "✅", "&quot;", "I'm sorry", "\u2028", "\x85", "[12] ",
    "{{ question }}",
    "## user\n", "</answer>", '"schema": 2', "line,", '""', ";",
]  # fmt: skip
VALUES: list[Any] = [
    None, True, False, 0, -1, 1, 2, 7, 0.5, -0.0, 1e308, 2**31, 2**63, 10**400, float("nan"), float("inf"),
    "", " ", "a", "1", "yes", "\0", "\ud800", "é\u0301", "9" * 500, "s.1", "../x", "{{ question }}",
    [], {}, [[]], [None], {"a": 1}, [1, "a"], ["a", "a"], {"": ""}, {"number": 1, "supported": True},
]  # fmt: skip
DEEP = "[" * 3000 + "]" * 3000
LONG = 100_000


def mutated(data: bytes, others: Sequence[bytes], chance: random.Random, largest: int) -> bytes:
    """Another input: this one after one to four changes, not longer than allowed."""
    for _ in range(chance.choice((1, 1, 2, 4))):
        change = chance.choice(CHANGES)
        data = change(data, others, chance)
    return data[:largest]


def stretched(data: bytes, chance: random.Random, *, least: int) -> bytes:
    """An input of 100 kB: a part of this one, of so many bytes at least, over and over in its place."""
    start, end = sorted(chance.randrange(len(data) + 1) for _ in range(2))
    part = (data[start:end] or data or b"a").ljust(least)
    room = max(0, LONG - len(data))
    return (data[:start] + part * (room // len(part) + 1) + data[end:])[: LONG + 1]


def _cut(data: bytes, others: Sequence[bytes], chance: random.Random) -> bytes:
    start, end = sorted(chance.randrange(len(data) + 1) for _ in range(2))
    return data[:start] + data[min(end, start + 200) :]


def _repeat(data: bytes, others: Sequence[bytes], chance: random.Random) -> bytes:
    start, end = sorted(chance.randrange(len(data) + 1) for _ in range(2))
    return data[:end] + data[start:end] * chance.randint(1, 3) + data[end:]


def _insert(data: bytes, others: Sequence[bytes], chance: random.Random) -> bytes:
    place = chance.randrange(len(data) + 1)
    return data[:place] + chance.choice(PIECES).encode() + data[place:]


def _scribble(data: bytes, others: Sequence[bytes], chance: random.Random) -> bytes:
    place = chance.randrange(len(data) + 1)
    return data[:place] + chance.randbytes(chance.choice((1, 1, 2))) + data[place + 1 :]


def _splice(data: bytes, others: Sequence[bytes], chance: random.Random) -> bytes:
    other = chance.choice(others) if others else b""
    return data[: chance.randrange(len(data) + 1)] + other[chance.randrange(len(other) + 1) :]


def _truncate(data: bytes, others: Sequence[bytes], chance: random.Random) -> bytes:
    return data[: chance.randrange(len(data) + 1)]


def _revalue(data: bytes, others: Sequence[bytes], chance: random.Random) -> bytes:
    """Change a value of the JSON that one of the lines holds, or all of them together."""
    lines = [data] if chance.random() < 0.5 else data.split(b"\n")
    number = chance.randrange(len(lines))
    start = lines[number].find(b"{")
    head, text = lines[number][: max(start, 0)], lines[number][max(start, 0) :]
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return _insert(data, others, chance)
    for _ in range(chance.choice((1, 1, 3))):
        value = _altered(value, chance)
    try:
        lines[number] = head + json.dumps(value).replace('"DEEP"', DEEP).encode()
    except (ValueError, RecursionError):
        return data
    return b"\n".join(lines)


def _altered(value: Any, chance: random.Random) -> Any:
    """The value with one thing in it changed."""
    if isinstance(value, dict) and value and chance.random() < 0.85:
        key = chance.choice(list(value))
        match chance.randrange(12):
            case 0:
                return {each: value[each] for each in value if each != key}
            case 1:
                return {**value, chance.choice(PIECES): value[key]}
            case 2:
                return {**value, key: value[chance.choice(list(value))]}
            case _:
                return {**value, key: _altered(value[key], chance)}
    if isinstance(value, list) and value and chance.random() < 0.85:
        place = chance.randrange(len(value))
        match chance.randrange(6):
            case 0:
                return value[:place] + value[place + 1 :]
            case 1:
                return [*value, value[place]]
            case 2:
                return value[::-1]
            case _:
                return [*value[:place], _altered(value[place], chance), *value[place + 1 :]]
    if isinstance(value, str) and chance.random() < 0.5:
        return _insert(value.encode("utf-8", "surrogatepass"), (), chance).decode("utf-8", "replace")
    if isinstance(value, int | float) and chance.random() < 0.5:
        return chance.choice((value + 1, -value, value * 2, value // 3))
    return chance.choice([*VALUES, "DEEP", [value], {"a": value}])


Change = Callable[[bytes, Sequence[bytes], random.Random], bytes]
CHANGES: list[Change] = [
    _cut,
    _repeat,
    _insert,
    _insert,
    _scribble,
    _splice,
    _truncate,
    _revalue,
    _revalue,
    _revalue,
    _revalue,
]
