"""Identity of functions: a digest of the code and of everything it holds.

An object is digested as its pickled state and the code of its class. Objects that cannot be pickled (a lock,
a socket, a file) and objects of a package (a client) cannot be distinguished: a function that holds one is
unnamed unless it is given an identity.
"""

import dis
import functools
import inspect
import os
import pickle
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import is_dataclass
from enum import Enum
from hashlib import sha256
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from io import BytesIO
from operator import attrgetter
from pathlib import Path
from types import CodeType, FunctionType, MappingProxyType, MemberDescriptorType, MethodType, ModuleType
from typing import Any, Final, cast

from pydantic import BaseModel

from ragmetrics_core.models._secrets import HIDDEN, revealing, secrets_in
from ragmetrics_core.protocol import Embedder, Judge, Scorer

__all__ = ["WITHOUT_IDENTITY", "function_identity", "is_unnamed", "known_as", "own_digest", "unlike"]

WITHOUT_IDENTITY: Final = """a function without an identity, or a model that cannot be told from others: name\
 it with as_judge(function, identity=...), or for a framework's model pass name=..."""
# Without the digest that follows on the name a function may be any of that name; so were all at first.
_UNNAMED = re.compile(r"\bunnamed\(|\bcallable:[\w.<>]+(?![\w.<>#])")
_PYTHON: Final = "Python {}.{}".format(*sys.version_info)
_PLAIN = (type(None), bool, int, float, bytes, list, tuple, dict)
_OF_CODE = "code consts names varnames freevars cellvars flags exceptiontable argcount kwonlyargcount"
_CACHED = type(functools.cache(len))
_AROUND = (MethodType, staticmethod, classmethod, property, functools.cached_property, _CACHED)
_INSIDE = ("__func__", "__self__", "__wrapped__", "fget", "fset", "fdel", "func")
# By these a class says itself what pickling writes of an object, which need not be all that it is.
_HOOKS = ("__reduce__", "__reduce_ex__", "__getstate__")
# What pydantic and abc make of the rest of a class.
_DERIVED = ("_abc_impl", "model_computed_fields", "model_fields")
_EXTENDED = dis.opmap["EXTENDED_ARG"]
_LOOKED_UP = ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS")
# By these a text, too, may be the name of what is looked up.
_BY_TEXT = {"__dict__", "attrgetter", "eval", "exec", "getattr", "globals", "modules", "vars"}


def function_identity(function: Callable[..., Any]) -> str:
    """A function's name with a digest of its code and state; the name alone if they cannot be read.

    The digest covers bytecode, constants and names, defaults, closures, attributes and the globals that are
    used, through the user's own functions, classes, objects and modules. Python and installed packages count
    by name and version. Values that look like keys are ignored.
    """
    name = getattr(function, "__qualname__", type(function).__qualname__)
    name = "callable:" + re.sub(r"[^\w.<>]", "_", f"{getattr(function, '__module__', '')}.{name}")
    return f"{name}#{digest}" if (digest := _digest(function)) else name


def own_digest(kind: type[Any], held: object) -> str | None:
    """Digest of a user's own class and of its object's state; None if not readable.

    "" for a class of Python or of a package, which its name identifies.
    """
    return "" if _Digester().installed(kind) else _digest((kind, held))


def is_unnamed(identity: str) -> bool:
    """Whether a model with this identity, or a part of it, may change without its identity changing.

    >>> [is_unnamed(name) for name in ("callable:app.judge", "unnamed(mine)", "callable:app.judge#0f")]
    [True, True, False]
    """
    return _UNNAMED.search(identity) is not None


def known_as(model: Judge | Embedder | Scorer) -> str:
    """A model's identity in runs and cards, marked if other models may have the same one."""
    is_named = getattr(model, "cacheable", True) and not is_unnamed(model.identity)
    return model.identity if is_named else f"unnamed({model.identity})"


def unlike(one: str | None, other: str | None) -> str | None:
    """Reason that two models differ, as the end of a sentence: "is A, not B"; None if they are the same.

    >>> unlike("A", "B"), unlike("A", "A")
    ('is A, not B', None)
    """
    if one != other:
        return f"is {one or 'none'}, not {other or 'none'}"
    return f"is {one}, {WITHOUT_IDENTITY}" if one and is_unnamed(one) else None


def _digest(thing: object) -> str | None:
    package = str(getattr(thing, "__module__", "")).partition(".")[0]
    with suppress(Exception):  # the boundary to foreign code: whatever it raises, it cannot be read
        return sha256(_Digester(secrets_in(thing), package).written((_PYTHON, thing))).hexdigest()[:16]
    return None


@functools.cache
def _installed_version(package: str) -> str | None:
    """The version of an installed package, or Python's; None for the user's own modules."""
    spec = None
    with suppress(ImportError, ValueError):  # `__main__`, and what was made by hand
        spec = find_spec(package)
    place = (spec and (spec.origin or next(iter(spec.submodule_search_locations or ()), None))) or ""
    if package != "ragmetrics_core" and not re.search(r"[/\\](site|dist)-packages[/\\]", place):
        is_python = place in {"built-in", "frozen"} or Path(os.__file__).parent in Path(place).parents
        return _PYTHON if is_python else None
    with suppress(PackageNotFoundError):
        return version(package)
    return str(getattr(sys.modules.get(package), "__version__", ""))


class _Digester(pickle.Pickler):
    """Write all that an object is made of, independent of process, hashes and addresses.

    Args:
        secrets: values to leave out.
        package: package that counts as the user's own, installed or not.
    """

    def __init__(self, secrets: frozenset[str] = frozenset(), package: str = "") -> None:
        self._file = BytesIO()
        super().__init__(self._file, 4)
        self.fast = True  # without notes of what was written already, which are no part of a thing
        self._how = secrets, package
        # with the objects, so that no later one gets the id of one that is gone
        self._known: dict[int, tuple[int, object]] = {}

    def written(self, value: object) -> bytes:
        """A value as bytes."""
        self.dump(value)
        return self._file.getvalue()

    def persistent_id(self, value: Any) -> object:
        """A replacement for a value that is not pickled; None for a value that is."""
        if type(value) is str:
            return functools.reduce(lambda text, secret: text.replace(secret, HIDDEN), self._how[0], value)
        if type(value) in _PLAIN:
            return None
        if id(value) in self._known:
            return self._known[id(value)][0]
        self._known[id(value)] = len(self._known), value
        return self.installed(value) or self._parts(value)

    def installed(self, thing: Any) -> str | None:
        """Name and version of the object of Python or an installed package; None for other objects."""
        module = thing.__name__ if isinstance(thing, ModuleType) else getattr(thing, "__module__", None)
        with suppress(AttributeError, KeyError, TypeError):  # nothing of that name is there
            there = sys.modules[module or "builtins"]
            there = there if isinstance(thing, ModuleType) else attrgetter(thing.__qualname__)(there)
            package = (module or "builtins").partition(".")[0]
            told = _installed_version(package)
            if there is thing and told is not None and (package != self._how[1] or told == _PYTHON):
                return f"{module} {getattr(thing, '__qualname__', '')} {told}"
        return None

    def _parts(self, value: Any) -> object:
        kind: type[Any] = type(value)  # pyright: ignore[reportUnknownVariableType]
        if isinstance(value, set | frozenset):
            inner = sorted(_Digester(*self._how).written(part) for part in cast("set[object]", value))
            return [kind, getattr(cast("object", value), "__dict__", None), inner]
        if kind in _AROUND:
            return [getattr(value, name, None) for name in _INSIDE]
        if kind is CodeType:
            return [getattr(value, f"co_{name}") for name in _OF_CODE.split()]
        if kind is FunctionType:
            return list(self._of_function(value))
        if isinstance(value, FunctionType):  # poses as one: a package has wrapped something around it
            wrapper = getattr(value, "_self_wrapper", None)
            package = str(getattr(wrapper, "__module__", "")).partition(".")[0]
            return [_installed_version(package) or wrapper, cast("Any", value).__wrapped__]
        if isinstance(value, type):
            return list(self._of_class(value))
        if kind is MappingProxyType:
            return dict(value)
        if revealing(value):
            return HIDDEN
        self._check(kind, is_data=isinstance(value, BaseModel | Enum))
        return None

    def _of_function(self, function: FunctionType) -> Iterator[object]:
        code, space = function.__code__, function.__globals__
        yield from (code, function.__defaults__, function.__kwdefaults__, vars(function))
        codes = [*_codes(code)]
        steps = [step for inner in codes for step in dis.get_instructions(inner) if step.opcode != _EXTENDED]
        home = sys.modules.get(str(space.get("__name__")))
        if home and vars(home) is space and (told := self.installed(home)):
            yield told
            space, steps = {}, []  # a package has made it, and says what it means by names
        looked_up = {step.argval for step in steps if step.opname in _LOOKED_UP}
        anywhere = {name for inner in codes for name in inner.co_names}
        if anywhere & _BY_TEXT:
            texts = {text for inner in codes for text in inner.co_consts if isinstance(text, str)}
            looked_up, anywhere = looked_up | texts, anywhere | texts
        numbers = [number for number, step in enumerate(steps) if step.opname == "IMPORT_NAME"]
        imports = ["." * steps[number - 2].argval + steps[number].argval for number in numbers]
        modules = {name: import_module(name, space.get("__package__")) for name in imports}
        cells = inspect.getclosurevars(function).nonlocals
        spaces = [(space, looked_up), ({**cells}, {*cells}), (modules, {*modules})]
        for space, names in spaces:  # which grows by the user's own modules that are named there
            for name in sorted(name for name in names & space.keys() if not _is_special(name)):
                part = space[name]
                if not isinstance(part, ModuleType) or self.installed(part):
                    yield name, part
                elif not any(vars(part) is known for known, _ in spaces):
                    spaces.append((vars(part), anywhere))

    def _of_class(self, kind: type[Any]) -> Iterator[object]:
        yield from (kind.__qualname__, kind.__bases__, type(kind))
        for name, part in sorted(vars(kind).items()):
            is_said = not _is_special(name) or isinstance(part, (FunctionType, *_AROUND))
            if is_said and name not in _DERIVED and not isinstance(part, MemberDescriptorType):
                yield name, part

    def _check(self, kind: type[Any], *, is_data: bool) -> None:
        """Raise `TypeError` if pickling may not write the complete state of an object of this class."""
        told = self.installed(kind) or _PYTHON
        own = [base for base in kind.__mro__ if not self.installed(base)]
        hooks = [vars(base)[hook] for base in own for hook in _HOOKS if hook in vars(base)]
        is_data = is_data or is_dataclass(kind) or told.startswith("numpy") or told.endswith(_PYTHON)
        if not is_data or not all(map(self.installed, hooks)):
            raise TypeError(f"{kind.__name__} cannot be told from others")


def _is_special(name: str) -> bool:
    return name[:2] == name[-2:] == "__"


def _codes(code: CodeType) -> Iterator[CodeType]:
    """A code object and those of the functions and classes in it."""
    yield code
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _codes(inner)
