"""Keys and passwords: find them in a model, and remove them from a text.

Servers, proxies and clients repeat keys in messages about failed calls, and those enter records. So known
keys are removed from such messages.
"""

import functools
import inspect
import json
import os
import re
from base64 import b64encode
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from hashlib import sha256
from types import FunctionType, MethodType, ModuleType
from typing import Any, cast
from urllib.parse import quote, unquote, urlsplit, urlunsplit

from ragmetrics_core.boundary.shapes import is_dict, is_mapping, is_series

__all__ = [
    "HIDDEN",
    "SHORTEST",
    "bare_address",
    "holds_secret",
    "in_environment",
    "is_secret",
    "passwords_in",
    "revealing",
    "secrets_in",
    "settings_for_names",
    "without_secrets",
]

HIDDEN = "***"

# Shorter ones are placeholders ("EMPTY", "ollama") and words that other texts may hold.
SHORTEST = 8
# Enough of a key to be told from other texts: a server may show the beginning alone.
_BEGINNING, _WITH_BEGINNING = 12, 20
# How far, and at how many objects, a model is looked through.
_DEPTH, _OBJECTS = 5, 2000

_KEY_NAME = re.compile(
    r"(api|access|private|secret|auth|subscription|master|signing)[_-]?key|secret|passw(or)?d|passphrase"
    r"|credential|authorization|(access|auth|api|bearer|refresh)[_-]token",
    re.IGNORECASE,
)
# Such names have other uses, too (`input_key`, `pad_token`): what they name must look like a key as well.
_MAYBE_KEY_NAME = re.compile(r"(^|[_-])(auth|key|token|signature|cookie)$", re.IGNORECASE)
_WORDS_APART = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
# What a key is made of; the texts and marks that share a name with keys (`pad_token`) are not.
_KEY_LIKE = re.compile(r"[\w.+/=:~@-]+", re.ASCII)
_RANDOM_LIKE = re.compile(r"(?=.*\d)(?=.*[a-zA-Z]).{12,}")
_USER_INFO = re.compile(r"(?<=://)(?:[^\s/@?#'\"]+@|[^\s/@?#:'\"]*:(?!\d*/)[^\s?#@'\"]{0,200}@)")
# User and password of an address, also where the password holds a slash that should be written as %2F.
_WITH_USER = re.compile(r"^([\w+.-]+://)(?:[^\s/@?#]*@|[^\s/@?#:]*:(?!\d*(?:/|$))[^\s?#]*@)")
_IN_QUERY = re.compile(
    r"([?&](?:[\w.-]*[_.-])?(?:key|token|secret|sig|signature|password)=)[^&\s'\"<>#]+", re.I
)
_ADDRESS = re.compile(r"[\w+.-]+://\S*")
# Settings that are sent beside a request (`extra_headers`), and the headers that say who pays and how.
_SENT = re.compile(r"header|cookie", re.IGNORECASE)
_OPEN_HEADERS = frozenset(
    {
        "accept",
        "anthropic-beta",
        "anthropic-version",
        "content-type",
        "openai-beta",
        "openai-organization",
        "openai-project",
        "user-agent",
    }
)
_SCHEME = re.compile(r"\b(Bearer|Basic)\s+[\w.+/=~-]{8,}", re.IGNORECASE)


def is_secret(name: str, value: str) -> bool:
    """Whether a named text is a key: `api_key`, `HF_TOKEN`, `Authorization`, `x-api-key`.

    >>> is_secret("api_key", "sk-0123456789"), is_secret("api_key", "none"), is_secret("key", "question")
    (True, False, False)
    """
    if len(value) < SHORTEST or not _KEY_LIKE.fullmatch(value):
        return False
    name = _WORDS_APART.sub("_", name)
    if _KEY_NAME.search(name):
        return True
    return bool(_MAYBE_KEY_NAME.search(name) and _RANDOM_LIKE.fullmatch(value))


def in_environment() -> frozenset[str]:
    """Values of the environment variables with names of keys."""
    return _with_forms(value for name, value in os.environ.items() if is_secret(name, value))


def secrets_in(*objects: object) -> frozenset[str]:
    """The keys found in objects, in all forms in which they may be repeated.

    The search covers the secret types of pydantic and Haystack; texts under a name like `api_key`, in
    attributes and mappings; passwords in addresses; and a function's closure, bound arguments and globals. It
    calls nothing except the methods that return a secret's value.
    """
    secrets: list[object] = []
    seen: dict[int, object] = {}  # with the objects, so that no later one gets the id of one that is gone
    waiting = deque(("", holder, _DEPTH) for holder in objects)
    while waiting:
        name, value, depth = waiting.popleft()
        if isinstance(value, bytes):
            value = value.decode("utf-8", "replace")
        if isinstance(value, str):
            # the scheme of a header is no secret: "Bearer sk-..."
            secret = value.strip().rpartition(" ")[2]
            secrets += [secret] if is_secret(name, secret) else []
            secrets += passwords_in(value) if "://" in value and "@" in value else []
        elif value is None or isinstance(value, bool | int | float | type | ModuleType):
            continue
        elif id(value) not in seen and len(seen) < _OBJECTS:
            seen[id(value)] = value
            if (reveal := revealing(value)) is not None:
                with suppress(Exception):  # the boundary to foreign code: a secret that is not set
                    secret = reveal()
                    is_coded = isinstance(secret, bytes)
                    secrets.append(secret.decode("utf-8", "replace") if is_coded else secret)
            elif depth:
                # an element of a list is what the list's name says
                waiting.extend((inner or name, part, depth - 1) for inner, part in _parts(value))
    return _with_forms(secrets)


def without_secrets(text: str, secrets: Iterable[str] = ()) -> str:
    """A text without these secrets and without anything in a place for secrets.

    Such places are the user and password of an address, its parameters such as `api_key=`, and the word after
    "Bearer" or "Basic".

    >>> without_secrets("401 for http://me:pw@host/v1?api_key=abc sent Bearer 0123456789", ["pw"])
    '401 for http://***@host/v1?api_key=*** sent Bearer ***'
    """
    for secret in sorted(secrets, key=len, reverse=True):
        text = text.replace(secret, HIDDEN)
        if len(secret) >= _WITH_BEGINNING and secret[:_BEGINNING] in text:
            text = re.sub(re.escape(secret[:_BEGINNING]) + r"[\w*.…-]*", HIDDEN, text)
    if "://" in text:
        text = _USER_INFO.sub(f"{HIDDEN}@", text)
    if "=" in text:
        text = _IN_QUERY.sub(rf"\1{HIDDEN}", text)
    return _SCHEME.sub(rf"\1 {HIDDEN}", text)


def bare_address(address: str) -> str:
    """An address without user, password, parameters and fragment, for records.

    >>> bare_address("https://me:pw@host:81/v1/?key=abc")
    'https://host:81/v1/'
    """
    parts = urlsplit(_WITH_USER.sub(r"\1", address))
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def settings_for_names(settings: Mapping[str, Any]) -> dict[str, Any]:
    """A model's settings for its name: addresses shortened, values that may hold a key as a digest.

    A header or a cookie counts as a key, whatever its name and depth, unless it is known to be harmless. A
    text that merely contains an address is not changed.
    """
    told: dict[str, Any] = {}
    for name, value in settings.items():
        if isinstance(value, str) and _ADDRESS.fullmatch(value):
            told[name] = bare_address(value)
        elif secrets_in({name: value}) or _may_hold_key(name, value, _DEPTH):
            told[name] = sha256(repr(value).encode("utf-8", "replace")).hexdigest()[:12]
        else:
            told[name] = value
    return told


def _may_hold_key(name: str, value: object, depth: int) -> bool:
    """Whether a setting is or contains a header, a cookie, or an address with more than host and path."""
    if _SENT.search(name) and not _is_open(value):
        return True
    if isinstance(value, str):
        return "://" in value and not value == without_secrets(value) == bare_address(value)
    if not depth:
        return False
    if is_mapping(value):
        return any(_may_hold_key(str(inner), part, depth - 1) for inner, part in value.items())
    return is_series(value) and any(_may_hold_key("", part, depth - 1) for part in value)


def _is_open(headers: object) -> bool:
    """Whether these are headers that never hold a key."""
    return is_mapping(headers) and all(str(name).lower() in _OPEN_HEADERS for name in headers)


def holds_secret(text: str, secrets: Iterable[str]) -> bool:
    """Whether a text contains one of these secrets, or an address with a password."""
    return _USER_INFO.search(text) is not None or any(secret in text for secret in secrets)


def passwords_in(address: str) -> Iterator[str]:
    """The password in an address as written, decoded and sent; without one, the user's name."""
    match = _WITH_USER.match(address)
    if match is None:
        return
    user, _, password = match[0].removeprefix(match[1]).removesuffix("@").partition(":")
    secret = password or user
    if secret:
        yield secret
        yield unquote(secret)
    if user and password:
        yield b64encode(f"{unquote(user)}:{unquote(password)}".encode()).decode()


def _parts(value: object) -> Iterator[tuple[str, object]]:
    """The named parts of an object; none of the object's own code runs."""
    if is_mapping(value):
        with suppress(Exception):  # the boundary to foreign code: somebody else changes it, or it loads
            yield from [(str(key), part) for key, part in value.items()]
    elif is_series(value) or isinstance(value, set | frozenset):
        yield from (("", part) for part in cast("Iterable[object]", value))
    elif isinstance(value, FunctionType):
        yield from _of_function(value)
    elif isinstance(value, MethodType):
        yield "", value.__self__
        yield "", value.__func__
    elif isinstance(value, functools.partial):
        yield from (("", part) for part in (value.func, value.args, value.keywords))
    else:
        yield from list(getattr(value, "__dict__", {}).items())
        private = getattr(value, "__pydantic_private__", None)
        if is_dict(private):
            yield from list(private.items())
        for kind in type(value).__mro__:
            slots = kind.__dict__.get("__slots__", ())
            for name in (slots,) if isinstance(slots, str) else tuple(slots):
                if not name.startswith("__"):
                    yield name, getattr(value, name, None)


def _of_function(function: FunctionType) -> Iterator[tuple[str, object]]:
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=False):
        with suppress(ValueError):  # a variable that has no value yet
            yield name, cell.cell_contents
    names = function.__globals__
    yield from ((name, names[name]) for name in function.__code__.co_names if name in names)
    parameters = inspect.signature(function, follow_wrapped=False).parameters.values()
    yield from ((parameter.name, parameter.default) for parameter in parameters)


def revealing(value: object) -> Callable[[], Any] | None:
    """The method that returns the value of a secret of pydantic (and so LangChain) or of Haystack."""
    names = ("get_secret_value", "resolve_value")
    name = next((name for name in names if callable(getattr(type(value), name, None))), None)
    return None if name is None else getattr(value, name)


def _with_forms(values: Iterable[object]) -> frozenset[str]:
    """Secrets as they are, and as encoded in addresses and JSON."""
    secrets = {value for value in values if isinstance(value, str) and len(value) >= SHORTEST}
    in_json = {json.dumps(secret, ensure_ascii=False)[1:-1].replace("/", "\\/") for secret in secrets}
    return frozenset(secrets | {quote(secret, safe="") for secret in secrets} | in_json)
