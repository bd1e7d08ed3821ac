"""Reading the replies to a wave, from a batch interface or a person."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ragmetrics_core.boundary.shapes import Json
from ragmetrics_core.errors import ConfigError, ModelError
from ragmetrics_core.models.openai_replies import completions_in
from ragmetrics_core.protocol import Completion

__all__ = ["lines_of", "reply_in"]

_UTF8_MARK = b"\xef\xbb\xbf"


def lines_of(path: Path) -> Iterator[tuple[int, Any]]:
    """The JSON of each line that is not blank, with its number."""
    number = 0
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, start=1):
                if not line.isspace():
                    yield number, json.loads(line.removeprefix(_UTF8_MARK) if number == 1 else line)
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror or error}") from error
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{path}, line {number} is not JSON: {error}") from error


def reply_in(line: Json, where: str) -> tuple[str, Completion | str]:
    """Address of a reply, and the reply or the reason why it is missing."""
    if not isinstance(line, dict) or not isinstance(address := line.get("custom_id"), str):
        raise ConfigError(f"{where} has no custom_id: it is not a reply to a wave")
    if "reply" in line:
        reply = line["reply"]
        return address, Completion(text=reply) if isinstance(reply, str) else "its reply is no text"
    response = line.get("response")
    body = response.get("body") if isinstance(response, dict) else None
    status = response.get("status_code", 200) if isinstance(response, dict) else None
    if status != 200 or not isinstance(body, dict):
        return address, _why(line.get("error"), body, status)
    try:
        return address, completions_in(body, where="the reply", model="")[0]
    except ModelError as error:
        return address, str(error)


def _why(error: Json, body: Json, status: object) -> str:
    """Reason of a failed request, in the server's words."""
    told = error or (body.get("error") if isinstance(body, dict) else None) or body
    if isinstance(told, dict):
        told = told.get("message") or told.get("code") or json.dumps(told)
    code = f" ({status})" if status not in (None, 200) else ""
    return f"{told or 'it has neither a reply nor an error'}{code}"[:300]
