"""The part of a reply that is the model's answer: without thoughts, echoes and harmful quotes."""

import re

from ragmetrics_core.parsers._echoes import is_form, without_echo
from ragmetrics_core.parsers._json_text import json_spans, strict_json
from ragmetrics_core.parsers._quoting import escaped_quotes, is_quoted_tag
from ragmetrics_core.parsers._reading import Hints
from ragmetrics_core.parsers._reply_text import plain
from ragmetrics_core.parsers._thoughts import has_thoughts, without_thoughts

__all__ = ["own_text"]


def own_text(text: str, hints: Hints) -> str:
    """The reply without what can never be part of its answer.

    A reply that is JSON as a whole is left as it is, whatever its strings hold. Elsewhere thoughts are cut,
    but no tag counts that stands inside JSON or is a copy from the sample.
    """
    text = plain(text)
    if is_form(text, hints):
        return ""
    if text[:1] not in "{[" or not strict_json(text):
        text = without_echo(text, hints)
    text = escaped_quotes(text, hints)
    if not has_thoughts(text) or (text[:1] in "{[" and strict_json(text)):
        return text
    spans: dict[str, list[tuple[int, int]]] = {}

    def is_markup(tag: "re.Match[str]") -> bool:
        if tag.string not in spans:
            spans[tag.string] = json_spans(tag.string)
        inside = any(start < tag.start() < end for start, end in spans[tag.string])
        return not inside and not is_quoted_tag(tag, hints)

    return without_thoughts(text, is_markup).strip()
