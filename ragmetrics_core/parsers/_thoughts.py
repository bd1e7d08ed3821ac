"""What a reasoning model thought aloud, which is no part of its reply."""

import re
from collections.abc import Callable

from ragmetrics_core.parsers._lazy_pattern import lazy

__all__ = ["has_thoughts", "without_leading_thoughts", "without_thoughts"]

_NAMES = "think|thinking|thoughts?|reasoning|reflection|scratchpad|seed:think"
# Tags (Qwen, DeepSeek, Mistral, Seed), Kimi's signs, and the tokens of Command A and OpenThinker.
_OPEN = (
    rf"<(?:{_NAMES})(?:\s[^<>\n]{{0,80}})?>|\[(?:THINK|THINKING|REASONING)\]|◁think▷"
    r"|<\|(?:START_THINKING|begin_of_thought|thinking)\|>"
)
_CLOSE = (
    rf"</\s*(?:{_NAMES})\s*>|\[/(?:THINK|THINKING|REASONING)\]|◁/think▷"
    r"|<\|(?:END_THINKING|end_of_thought|/thinking)\|>"
)
_TAG = lazy(rf"(?P<open>{_OPEN})|(?P<close>{_CLOSE})", re.IGNORECASE)
# Harmony: every message begins with its channel, and only the last one of the channel "final" is the reply.
_CHANNEL = lazy(
    r"(?:<\|start\|>\s*\w{1,20}\s*)?<\|channel\|>\s*(?P<channel>\w{1,20})[^<\n]{0,80}"
    r"(?:<\|[a-z]+\|>[^<\n]{0,40})?<\|message\|>"
)
_TOKEN = lazy(
    r"<\|(?:end|return|call|start|im_end|im_start|eot_id|endoftext|START_RESPONSE|END_RESPONSE"
    r"|(?:begin|end)_of_solution)\|>(?:assistant\b)?",
    re.IGNORECASE,
)  # fmt: skip
_SIGNS = ("<", "[/", "[T", "[t", "[R", "[r", "◁")

IsMarkup = Callable[["re.Match[str]"], bool]


def has_thoughts(text: str) -> bool:
    """Whether there may be a thought in a text: cheap, and true of some texts without one."""
    return any(sign in text for sign in _SIGNS)


def without_thoughts(text: str, is_markup: IsMarkup = lambda _: True) -> str:
    """Cut the thoughts of a reply.

    A thought that begins the reply and never ends hides all of it. A closing tag without an opening one ends
    a thought that began before the text did: some servers put the opening tag into the prompt.

    Args:
        text: the reply.
        is_markup: whether a tag is the model's own markup, and not something that it quotes.
    """
    text = _final_channel(text, is_markup)
    closes: list[re.Match[str]] = []
    opens: list[re.Match[str]] = []
    for tag in _TAG.finditer(text):
        if is_markup(tag):
            (opens if tag["open"] else closes).append(tag)
    if not opens:
        return text[closes[-1].end() :] if closes else text
    if not closes:
        return text if text[: opens[0].start()].strip() else ""
    kept: list[str] = []
    position = 0
    for close in closes:
        start = next((tag for tag in opens if position <= tag.start() < close.start()), None)
        if start is not None:
            kept.append(text[position : start.start()])
        position = close.end()
    rest = text[position:]
    unended = next((tag for tag in opens if tag.start() >= position), None)
    is_hidden = unended is not None and not text[position : unended.start()].strip()
    return "".join(kept) + ("" if is_hidden else rest)


def without_leading_thoughts(text: str) -> str:
    """An answer without the thought that it begins with; one that it only mentions stays.

    >>> without_leading_thoughts("<think>Paris, I believe.</think>It is Paris.")
    'It is Paris.'
    >>> without_leading_thoughts("Write <think> before and </think> behind it.")
    'Write <think> before and </think> behind it.'
    """
    while has_thoughts(text):
        start = text.lstrip()
        first = _TAG.match(start) or _CHANNEL.match(start)
        if first is None:
            tags = list(_TAG.finditer(text))
            # the server put the opening tag into the prompt
            is_rest = (
                len(tags) == 1 and tags[0]["close"] is not None and text[tags[0].end() :].startswith("\n")
            )
            return text[tags[0].end() :].lstrip() if is_rest else text
        if first.re.groupindex.get("close") and first["close"]:
            return start[first.end() :].lstrip()
        if "channel" in first.re.groupindex:
            return without_thoughts(start).strip()
        end = next((tag for tag in _TAG.finditer(start, first.end()) if tag["close"]), None)
        if end is None:
            return ""
        text = start[end.end() :].lstrip()
    return text


def _final_channel(text: str, is_markup: IsMarkup) -> str:
    """The last message of the final channel; a reply whose channels have none is all thought."""
    if "<|" not in text:
        return text
    channels = [found for found in _CHANNEL.finditer(text) if is_markup(found)]
    if channels:
        if channels[-1]["channel"] != "final":
            return ""
        text = text[channels[-1].end() :]
    return _TOKEN.sub(lambda token: " " if is_markup(token) else token[0], text)
