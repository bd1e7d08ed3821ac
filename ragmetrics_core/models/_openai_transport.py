"""What the `openai` package sends requests with: other packages, and not the same in its versions 2 and 3."""

import logging
import re
from collections.abc import Awaitable, Callable
from functools import cache
from importlib import metadata
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from httpx2 import AsyncClient

__all__ = ["fastest_transport", "missing_package"]

_log = logging.getLogger(__name__)


def missing_package() -> str | None:
    """The package that is not installed and without which `openai` cannot be used: itself, or one it needs.

    Nothing is imported to find out.
    """
    return "openai" if find_spec("openai") is None else _unmet()


def fastest_transport(receive: Callable[[Any], Awaitable[None]]) -> "AsyncClient":
    """The transport on aiohttp, or the default one where a package for it is not installed.

    It follows no redirect.

    A call costs 0.5 to 0.7 ms of CPU on aiohttp, and 1.0 ms on the default transport, at 16 as at 64 in
    flight; the client's typed methods add 0.4 ms or more to either (openai 3.52;
    benchmarks/openai_transport.py prints the table). The extra `openai[aiohttp]` brings it: aiohttp alone is
    enough for openai 3, while openai 2 needs httpx-aiohttp, too.

    Args:
        receive: called with each response before its body is read.
    """
    import openai

    try:
        return openai.DefaultAioHttpClient(follow_redirects=False, event_hooks={"response": [receive]})
    except RuntimeError:  # how the package says that its extra is missing
        _tell_of_slower_transport()
        return openai.DefaultAsyncHttpxClient(follow_redirects=False, event_hooks={"response": [receive]})


@cache
def _tell_of_slower_transport() -> None:
    """Once in a process."""
    _log.warning(
        "the openai package lacks its transport on aiohttp, so requests go over its slower one: "
        "pip install 'ragmetrics[openai]'"
    )


@cache
def _unmet() -> str | None:
    """The first package that `openai` needs and that is not installed."""
    try:
        needed = metadata.requires("openai") or []
    except metadata.PackageNotFoundError:  # it is there, but was not installed as a package
        return None
    # Those with a marker belong to an extra, or to another Python.
    names = [match[0] for each in needed if ";" not in each and (match := re.match(r"[\w.-]+", each))]
    return next((name for name in names if not _is_installed(name)), None)


def _is_installed(name: str) -> bool:
    try:
        metadata.version(name)
    except metadata.PackageNotFoundError:
        return False
    return True
