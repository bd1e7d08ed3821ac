"""The identity of a function: another one has another, in every way in which functions differ."""

import asyncio
import dataclasses
import enum
import functools
import os
import pickle
import re
import socket
import subprocess
import sys
import threading
import types
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

import numpy as np
import pytest
from pydantic import BaseModel, SecretStr

from ragmetrics_core import as_judge
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.models import CallableJudge
from ragmetrics_core.testing import ScriptedJudge

KEY = "sk-0123456789abcdefghij"
settings = types.ModuleType("settings")
STRICT: Any = True


def identity(function: Callable[..., Any]) -> str:
    return as_judge(function).identity


def is_named(function: Callable[..., Any]) -> bool:
    return bool(re.fullmatch(r"callable:[\w.<>]+#[0-9a-f]{16}", identity(function)))


# -- a judge and its lenient twin: each form makes one of both


def closure(strict: Any) -> Callable[[str], str]:
    return lambda prompt: "no" if strict else "yes"


def nested(strict: Any) -> Callable[[str], str]:
    inner = closure(strict)

    def judge(prompt: str) -> str:
        return [inner(text) for text in (prompt,)][0]  # noqa: RUF015

    return judge


def partial(strict: Any) -> Callable[..., str]:
    return functools.partial(with_keyword, strict=strict)


def with_keyword(prompt: str, *, strict: Any = True) -> str:
    return "no" if strict else "yes"


def default(strict: Any) -> Callable[..., str]:
    def judge(prompt: str, strict: Any = strict) -> str:
        return "no" if strict else "yes"

    return judge


def keyword_default(strict: Any) -> Callable[..., str]:
    def judge(prompt: str, *, strict: Any = strict) -> str:
        return "no" if strict else "yes"

    return judge


def attribute(strict: Any) -> Callable[[str], str]:
    vars(reads_attribute)["strict"] = strict
    return reads_attribute


def reads_attribute(prompt: str) -> str:
    return "no" if vars(reads_attribute)["strict"] else "yes"


def global_name(strict: Any) -> Callable[[str], str]:
    globals()["STRICT"] = strict
    return reads_global


def reads_global(prompt: str) -> str:
    return "no" if STRICT else "yes"


def global_of_another(strict: Any) -> Callable[[str], str]:
    global_name(strict)
    return lambda prompt: reads_global(prompt) + "."


def global_in_nested_code(strict: Any) -> Callable[[str], str]:
    global_name(strict)

    def judge(prompt: str) -> str:
        return "".join("no" if STRICT else "yes" for _ in prompt[:1])

    return judge


__HIDDEN: Any = True


def global_with_underscores(strict: Any) -> Callable[[str], str]:
    globals()["__HIDDEN"] = strict
    return lambda prompt: "no" if __HIDDEN else "yes"


def global_by_text(strict: Any) -> Callable[[str], str]:
    global_name(strict)
    return lambda prompt: "no" if globals()["STRICT"] else "yes"


def of_module(strict: Any) -> Callable[[str], str]:
    vars(settings)["STRICT"] = strict
    return lambda prompt: "no" if settings.STRICT else "yes"


def of_module_by_text(strict: Any) -> Callable[[str], str]:
    vars(settings)["STRICT"] = strict
    return lambda prompt: "no" if getattr(settings, "STRICT") else "yes"  # noqa: B009


def imported_inside(strict: Any) -> Callable[[str], str]:
    vars(settings)["STRICT"] = strict
    sys.modules["settings"] = settings

    def judge(prompt: str) -> str:
        from settings import STRICT  # type: ignore[import-not-found]

        return "no" if STRICT else "yes"

    return judge


class Service:
    def __init__(self, strict: Any) -> None:
        self.strict = strict

    def ask(self, prompt: str) -> str:
        return "no" if self.strict else "yes"

    __call__ = ask


def method(strict: Any) -> Callable[[str], str]:
    return Service(strict).ask


def attached_method(strict: Any) -> Callable[[str], str]:
    return types.MethodType(lambda self, prompt: "no" if self.strict else "yes", Service(strict))


class Slotted:
    __slots__ = ("strict",)

    def __init__(self, strict: Any) -> None:
        self.strict = strict

    def __call__(self, prompt: str) -> str:
        return "no" if self.strict else "yes"


def of_class(strict: Any) -> Callable[[str], str]:
    class Judge:
        rule = strict

        def __call__(self, prompt: str) -> str:
            return "no" if self.rule else "yes"

    return Judge()


def of_base_class(strict: Any) -> Callable[[str], str]:
    class Judge(type(of_class(strict))):  # type: ignore[misc]
        pass

    return Judge()  # type: ignore[no-any-return]


def of_property(strict: Any) -> Callable[[str], str]:
    class Judge:
        @property
        def rule(self) -> Any:
            return strict

        def __call__(self, prompt: str) -> str:
            return "no" if self.rule else "yes"

    return Judge()


def decorated(strict: Any) -> Callable[[str], str]:
    return functools.cache(closure(strict))


def wrapped(strict: Any) -> Callable[[str], str]:
    @functools.wraps(reads_global)
    def judge(prompt: str) -> str:
        return "no" if strict else "yes"

    return judge


def asynchronous(strict: Any) -> Callable[[str], Any]:
    async def judge(prompt: str) -> str:
        await asyncio.sleep(0)
        return "no" if strict else "yes"

    return judge


def in_list(strict: Any) -> Callable[[str], str]:
    return closure([{"rules": (strict,)}])


def code(strict: Any) -> Callable[[str], str]:
    space: dict[str, Any] = {}
    exec(f"def judge(prompt):\n    return {'no' if strict else 'yes'!r}", space)
    judge: Callable[[str], str] = space["judge"]
    return judge


FORMS = [
    closure, nested, partial, default, keyword_default, attribute, global_name, global_of_another,
    global_in_nested_code, global_by_text, global_with_underscores,
    of_module, of_module_by_text, imported_inside, method,
    attached_method, Service, Slotted, of_class, of_base_class, of_property, decorated, wrapped, asynchronous,
    in_list, code,
]  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
def test_a_lenient_twin_is_another_judge_and_the_same_one_made_again_is_not(form: Callable[[Any], Any]):
    strict, lenient, again = (identity(form(rule)) for rule in (True, False, True))
    assert strict == again != lenient
    assert strict.partition("#")[0] == lenient.partition("#")[0]
    assert is_named(form(True))


def test_a_judge_that_was_made_before_a_global_changed_is_another_one_afterwards():
    judge = as_judge(global_name(True))
    global_name(False)
    assert as_judge(judge).identity != judge.identity
    global_name(True)
    assert as_judge(judge).identity == judge.identity


# -- what a function holds


class Colour(enum.Enum):
    RED = 1
    BLUE = 2


class Pair(NamedTuple):
    left: int
    right: int


@dataclasses.dataclass(frozen=True, slots=True)
class Rule:
    name: str
    words: tuple[str, ...] = ()


class Rubric(BaseModel):
    text: str
    points: int = 1


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (1, 1.0),
        (1, True),
        ("1", b"1"),
        ((1,), [1]),
        ({1}, {2}),
        ({1: 2}, {2: 1}),
        (None, ()),
        (Colour.RED, Colour.BLUE),
        (Pair(1, 2), Pair(2, 1)),
        (Rule("a"), Rule("a", ("b",))),
        (Rubric(text="a"), Rubric(text="a", points=2)),
        (re.compile("a"), re.compile("a", re.IGNORECASE)),
        (PurePosixPath("/a"), PurePosixPath("/b")),
        (np.arange(3), np.arange(4)),
        (np.arange(4), np.arange(4).reshape(2, 2)),
        (len, max),
        (os, sys),
    ],
)
def test_what_a_function_holds_is_part_of_it(one: Any, other: Any):
    assert identity(closure(one)) != identity(closure(other))
    assert is_named(closure(one))
    assert is_named(closure(other))


class Client:
    """As clients are: with a lock inside."""

    def __init__(self) -> None:
        self._lock = threading.Lock()


class Pruned:
    """Says what pickling writes of it, and leaves out what matters."""

    def __init__(self, strict: bool) -> None:
        self.strict = strict

    def __getstate__(self) -> dict[str, Any]:
        return {}


def counting() -> Iterator[int]:
    yield 1


@pytest.mark.parametrize(
    "make", [threading.Lock, Client, socket.socket, Path(os.devnull).open, counting, lambda: Pruned(True)]
)
def test_a_function_that_holds_what_cannot_be_told_from_others_has_no_identity(make: Callable[[], Any]):
    thing = make()
    try:
        judge = as_judge(closure(thing))
        assert "#" not in judge.identity
        assert not judge.cacheable  # type: ignore[attr-defined]
        assert as_judge(closure(thing), identity="mine-v1").identity == "mine-v1"
    finally:
        getattr(thing, "close", int)()


def test_functions_that_hold_themselves_have_an_identity():
    def ask(prompt: str) -> str:
        return prompt and ask(prompt[1:])

    service = Service(True)
    vars(service)["itself"] = service
    assert is_named(ask)
    assert is_named(service.ask)


# -- what does not count


def test_where_a_function_stands_does_not_count():
    source = "def judge(prompt):\n    return 'no'\n"
    spaces: list[dict[str, Any]] = [{}, {}]
    exec(compile(source, "/one/a.py", "exec"), spaces[0])
    exec(compile("\n\n\n" + source, "/two/b.py", "exec"), spaces[1])
    assert identity(spaces[0]["judge"]) == identity(spaces[1]["judge"])


def test_what_a_function_does_not_name_does_not_count():
    before = identity(reads_global)
    globals()["NEVER_NAMED"] = threading.Lock()
    try:
        assert identity(reads_global) == before
    finally:
        del globals()["NEVER_NAMED"]


def with_key(api_key: Any) -> Callable[[str], str]:
    return lambda prompt: str(api_key)


def test_another_key_is_the_same_judge_and_no_key_is_in_its_identity():
    keys = [KEY, KEY[::-1], SecretStr(KEY), SecretStr(KEY[::-1])]
    one, other, hidden, other_hidden = (identity(with_key(key)) for key in keys)
    assert one == other
    assert hidden == other_hidden
    assert "sk-" not in one + hidden


def test_another_process_names_a_function_alike_whatever_its_hashes(tmp_path: Path):
    (tmp_path / "app.py").write_text(
        "import json, re\n"
        "WORDS = {'a', 'b', 'c', ('d', 1)}\n"
        "class Rules:\n"
        "    pattern = re.compile('x')\n"
        "    def ask(self, prompt):\n"
        "        return json.dumps([w for w in WORDS if w in {'a', 'b', 'z'} and self.pattern])\n"
        "from ragmetrics_core import as_judge\n"
        "print(as_judge(Rules().ask).identity)\n"
    )
    told = {
        subprocess.run(
            [sys.executable, "-c", "import app"],
            cwd=tmp_path,
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join([".", *sys.path])},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "7")
    }
    assert len(told) == 1
    assert re.fullmatch(r"callable:app.Rules.ask#[0-9a-f]{16}\n", told.pop())


def test_the_identity_survives_pickling():
    judge = as_judge(functools.partial(with_keyword, strict=False))
    assert pickle.loads(pickle.dumps(judge)).identity == judge.identity
    assert as_judge(pickle.loads(pickle.dumps(judge))).identity == judge.identity
    assert identity(pickle.loads(pickle.dumps(Service(True))).ask) == identity(Service(True).ask)


# -- an identity of one's own


def test_a_chosen_identity_stands_in_place_of_the_digest():
    judge = as_judge(global_name(True), identity="mine-v1")
    global_name(False)
    assert as_judge(judge).identity == "mine-v1"
    global_name(True)
    assert CallableJudge(function=reads_global).identity == identity(reads_global)


@pytest.mark.parametrize("given", [lambda: "embedded", lambda: ScriptedJudge("yes")])
def test_only_a_function_is_given_an_identity(given: Callable[[], Any]):
    with pytest.raises(ConfigError, match="identity= must be text that names a function"):
        as_judge(given(), identity="mine")


def test_an_empty_identity_is_refused():
    with pytest.raises(ConfigError, match="identity= must be text that names a function"):
        as_judge(reads_global, identity=" ")
