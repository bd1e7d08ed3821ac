"""The JSON schema of the reply that a prompt asks for, for servers that can hold a model to one.

The schema follows the form that the prompt shows, not the fields of the answer's type: the prompt asks for
`{"verdict": "yes"}` where the type has `supported: bool`.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from ragmetrics_core.prompts import Item
from ragmetrics_core.protocol import Generate
from ragmetrics_core.shapes import is_sequence

__all__ = ["asks_for_json", "reply_schema"]

Schema = dict[str, Any]

_TEXT: Schema = {"type": "string"}
_TEXTS: Schema = {"type": "array", "items": _TEXT}


def asks_for_json(request: Generate[Any]) -> bool:
    """Whether the prompt asks for JSON; the free-text prompts of the papers do not."""
    return "JSON" in request.prompt.user


def reply_schema(request: Generate[Any], *, numbered: bool = False) -> Schema | None:
    """The schema of the form that the request's prompt asks for.

    Names and their order are taken from the prompt's text, so a prompt of the user that asks for a
    different form is not held to ours.

    Args:
        request: what is asked.
        numbered: fix the number of each verdict by its place in the list (`prefixItems`), so that no item
            can be left out. Hosted services with strict schemas do not know this keyword.

    Returns:
        None when the prompt asks for free text or for a form that is not known.
    """
    known = _FORMS.get(request.prompt.answer.__name__)
    if known is None or not asks_for_json(request):
        return None
    form = request.prompt.user
    if "verdicts" in known:
        known = {"verdicts": _verdicts(form, _numbers(request), numbered=numbered)}
    elif "questions" in known:
        known = {"questions": _questions(form, request.variables.get("count"))}
    schema = _object(form, known)
    return schema if next(iter(known)) in schema["properties"] else None


def _object(form: str, properties: Mapping[str, Schema]) -> Schema:
    """An object of those properties that the form names, in the form's order."""
    places = {name: form.find(f'"{name}":') for name in properties}
    named = sorted((name for name in properties if places[name] >= 0), key=lambda name: places[name])
    return {
        "type": "object",
        "properties": {name: properties[name] for name in named},
        "required": named,
        "additionalProperties": False,
    }


def _verdicts(form: str, numbers: Sequence[int], *, numbered: bool) -> Schema:
    size = {"minItems": len(numbers), "maxItems": len(numbers)} if numbers else {}
    if numbered and numbers:
        return {
            "type": "array",
            "prefixItems": [_verdict(form, {"const": number}) for number in numbers],
            **size,
        }
    each = _verdict(form, {"type": "integer", "enum": list(numbers)} if numbers else {"type": "integer"})
    return {"type": "array", "items": each, **size}


def _verdict(form: str, number: Schema) -> Schema:
    yes_or_no = '"yes"' in form and '"no"' in form
    verdict = {"type": "string", "enum": ["yes", "no"]} if yes_or_no else _TEXT
    return _object(form, {"number": number, "reason": _TEXT, "evidence": _TEXT, "verdict": verdict})


def _questions(form: str, count: object) -> Schema:
    size = {"minItems": count, "maxItems": count} if isinstance(count, int) else {}
    each = _object(form, {"question": _TEXT, "noncommittal": {"type": "boolean"}})
    return {"type": "array", "items": each, **size}


def _numbers(request: Generate[Any]) -> Sequence[int]:
    items = request.variables.get("items", ())
    assert is_sequence(items)
    return [item.number for item in items if isinstance(item, Item)]


# By the name of the answer's type: the form's names; the first one must be in the prompt's text.
_FORMS: Mapping[str, Mapping[str, Schema]] = {
    "DecliningVerdict": {"verdicts": {}},
    "EntityList": {"entities": _TEXTS},
    "QuestionList": {"questions": {}},
    "Rating": {"rating": {"type": "number"}, "reason": _TEXT},
    "RelevantSentences": {
        "relevant": {
            "anyOf": [
                {"type": "array", "items": {"type": "integer"}},
                {"type": "string", "enum": ["Insufficient Information"]},
            ]
        }
    },
    "StatementList": {
        "statements": _TEXTS,
        "declined": {"anyOf": [{"type": "boolean", "enum": [False]}, _TEXT]},
    },
    "VerdictList": {"verdicts": {}},
}
