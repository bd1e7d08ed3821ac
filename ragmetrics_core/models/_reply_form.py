"""The form in which a request asks for its reply, as far as a server needs to know it."""

from typing import Any

from ragmetrics_core.parsers import Wanted
from ragmetrics_core.prompts import Item
from ragmetrics_core.protocol import Generate
from ragmetrics_core.shapes import is_sequence

__all__ = ["asks_for_json", "reply_schema"]


def asks_for_json(request: Generate[Any]) -> bool:
    """Whether the prompt asks for JSON; the free-text prompts of the papers do not."""
    return "JSON" in request.prompt.user


def reply_schema(request: Generate[Any], *, numbered: bool = False) -> dict[str, Any] | None:
    """The JSON schema of the form that the request's prompt asks for; see `Answer.reply_schema`.

    Args:
        request: what is asked.
        numbered: fix the number of each verdict by its place in the list.

    Returns:
        None when the prompt asks for free text or for a form that is not known.
    """
    if not asks_for_json(request):
        return None
    items, count = request.variables.get("items", ()), request.variables.get("count")
    assert is_sequence(items)
    numbers = tuple([item.number for item in items if isinstance(item, Item)])
    size = count if isinstance(count, int) else None
    wanted = Wanted(request.prompt.user, numbers, size, numbered)
    schema: dict[str, Any] | None = request.prompt.answer.reply_schema(wanted)
    return schema
