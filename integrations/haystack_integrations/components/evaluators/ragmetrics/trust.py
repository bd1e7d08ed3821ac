"""
Limits for loaded pipelines: folders and servers that this process does not allow are refused.

Haystack loads classes only from trusted modules. The same applies here to folders and servers.
"""

import re
from collections.abc import Mapping
from os import getenv
from pathlib import Path
from typing import Any

from haystack import core
from haystack.core.errors import DeserializationError

__all__ = ["check_trusted"]

# No function changes what is allowed: whatever this package has, a hostile pipeline could name as its callback.
_FOLDERS = "RAGMETRICS_YAML_FOLDERS"
_HOSTS = "RAGMETRICS_YAML_HOSTS"
_AT_SERVER = re.compile(r"(?i)@\s*(?=https?:)(?P<url>.*)", re.DOTALL)
# What every client reads in the same way; a backslash or a name before the host is read by each in its own.
_PLAIN = re.compile(r"https?://(?P<host>[a-z0-9.-]+(:[0-9]+)?)(/[\w./-]*)?")
_AT_PATH = re.compile(r"(llama|entailment|cross-encoder|token-match):(?P<path>.+)", re.DOTALL)


def check_trusted(parameters: Mapping[str, Any]) -> None:
    """
    Check that the parameters of a loaded component name only allowed folders and servers.

    A run may be written below `runs` in the working directory, and prompts and model files be read from
    anywhere in the working directory. The environment variables RAGMETRICS_YAML_FOLDERS and
    RAGMETRICS_YAML_HOSTS, lists with commas, allow more. With `unsafe=True` neither Haystack nor this
    function checks anything.

    :param parameters: The component's parameters.
    :raises DeserializationError: A folder or a server is not allowed.
    """
    # before Haystack 3 it had no such check of its own, and nothing that switches one off
    security = getattr(core, "serialization_security", None)
    if getattr(security, "_is_unsafe_deserialization", bool)():
        return
    if (out := parameters.get("out")) is not None:
        _check_folder("out", out, Path("runs"))
    if (prompts := parameters.get("prompts")) is not None:
        _check_folder("prompts", prompts, Path())
    for name in ("chat_generator", "text_embedder", "scorer"):
        value = parameters.get(name)
        if isinstance(value, str):
            _check_model(name, value)


def _check_model(name: str, value: str) -> None:
    server = _AT_SERVER.search(value)
    if server is not None:
        plain = _PLAIN.fullmatch(server["url"].strip().lower())
        if plain is None or not {plain["host"], plain["host"].partition(":")[0]} & set(_allowed(_HOSTS)):
            msg = (
                f"{name} names a server that a loaded pipeline may not use. If you trust it, add "
                f"its host to the environment variable {_HOSTS}, or load the pipeline with unsafe=True"
            )
            raise DeserializationError(msg)
    file = _AT_PATH.fullmatch(value.strip())
    if file is not None:
        _check_folder(name, file["path"], Path())


def _check_folder(name: str, value: object, usual: Path) -> None:
    allowed = [usual, *map(Path, _allowed(_FOLDERS))]
    try:
        path = Path(str(value)).expanduser().resolve()
        if any(path.is_relative_to(each.expanduser().resolve()) for each in allowed):
            return
    except (OSError, RuntimeError, ValueError):  # no such home, a loop of links, a null byte: no path to trust
        pass
    msg = (
        f"{name} is {str(value)!r}, but a loaded pipeline may use only "
        f"{'the working directory' if usual == Path() else f'{str(usual)!r} in the working directory'}. If you trust "
        f"it, add the folder to the environment variable {_FOLDERS}, or load the pipeline with unsafe=True"
    )
    raise DeserializationError(msg)


def _allowed(variable: str) -> list[str]:
    return [each.strip() for each in (getenv(variable) or "").split(",") if each.strip()]
