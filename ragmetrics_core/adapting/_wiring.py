"""Calls that made the answer, their requests, and the calls upstream."""

from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import Any

from ragmetrics_core.adapting._captured import Call, CapturedMessage, CapturedRun, Dialect
from ragmetrics_core.samples import tile, words_in
from ragmetrics_core.texts.comparing import spaced_form

__all__ = ["calls_before", "contradiction", "makers_of", "messages_in", "reply_of"]

# An answer of few words was made from the reply that has so many of them, in their order.
_MOST_WORDS = 0.8
# Calls whose replies cover less of the answer did not make it, nor those of whose replies it has less.
_LEAST_SHARE = 0.5


def makers_of(run: CapturedRun, answer: str, dialect: Dialect) -> Sequence[Call]:
    """The calls that made the answer: by the wiring, or else those whose replies cover its words.

    Empty if no replies do, or if several calls replied the same.
    """
    if run.answered_by is not None:
        return run.answered_by
    models = [call for call in run.walk() if call.kind == "model" and call.ended is not None]
    models.sort(key=lambda call: call.ended or 0)
    replies = [reply_of(call, dialect) for call in models]
    wanted = spaced_form(answer)
    same = [call for call, reply in zip(models, replies, strict=True) if spaced_form(reply) == wanted]
    if same:
        requests = [[each.text for each in messages_in(call.inputs, dialect)] for call in same]
        # the last one was given the others' reply, or all were asked the same
        is_last = tile(requests[-1], [answer]).share(0) == 1 or all(each == requests[0] for each in requests)
        return same[-1:] if is_last else ()
    tiling = tile([answer], replies)
    is_whole = any(tiling.share(number) == 1 for number in range(len(replies)))  # code added the rest
    if not is_whole and tiling.accounted < _LEAST_SHARE * tiling.words:
        holders = [call for call, reply in zip(models, replies, strict=True) if _holds(reply, answer)]
        return holders if len(holders) == 1 else ()
    if any(tiling.tied):
        return ()
    makers = {run.text for run in tiling.runs}
    makers = {n for n in makers if tiling.share(n) >= _LEAST_SHARE or _is_apart(answer, replies[n])}
    return [call for number, call in enumerate(models) if number in makers]


def contradiction(run: CapturedRun, makers: Sequence[Call], answer: str, dialect: Dialect) -> str:
    """Note for the label `found_answer` if another text may be the answer, or others wrote it; else empty."""
    for value in (run.outputs, *dialect.fields(run.outputs).values()):
        messages = dialect.messages(value)
        asked = max((n for n, each in enumerate(messages) if each.role == "user"), default=-1)
        said = [m.text for m in messages[asked + 1 :] if m.role == "assistant" and not m.calls_tools]
        *_, before, last = ["", "", *filter(str.strip, said)]
        if last == answer and _few(before, [answer]):
            return (
                f"; the message before it says {before[:40]!r}: if that is the answer, name it with extract="
            )
    replies = [reply for call in makers if (reply := reply_of(call, dialect)).strip()]
    if not replies or not (few := _few(answer, replies)) or any(_holds(r, answer) for r in replies):
        return ""
    return f"; {few} of the answer are in the reply"


def _few(text: str, others: Sequence[str]) -> str:
    """Number of words of a text that others have, in words, if it is less than half; else empty."""
    tiling = tile([text], others)
    is_few = tiling.accounted < _LEAST_SHARE * tiling.words
    return f"{tiling.accounted} of {tiling.words} words" if is_few else ""


def _holds(reply: str, answer: str) -> bool:
    """Whether a reply has the words of an answer that is too short to share a run of them."""
    words, said = words_in(answer), words_in(reply)
    blocks = SequenceMatcher(None, words, said, autojunk=False).get_matching_blocks()
    size = sum(block.size for block in blocks)
    is_most = size >= max(_MOST_WORDS * len(words), _LEAST_SHARE * len(said))
    return bool(words) and (is_most or _is_apart(answer, reply))


def _is_apart(answer: str, reply: str) -> bool:
    """Whether a longer reply has an answer by itself, and not in a sentence of a grader."""
    return tile([reply], [answer]).holds(0, _MOST_WORDS)


def reply_of(call: Call, dialect: Dialect) -> str:
    if (text := dialect.text(call.outputs)) is not None:
        return text
    messages = dialect.messages(call.outputs)
    return messages[-1].text if messages else ""


def messages_in(value: Any, dialect: Dialect) -> Sequence[CapturedMessage]:
    if messages := dialect.messages(value):
        return messages
    text = dialect.text(value)
    return () if text is None else [CapturedMessage("user", text)]


def calls_before(run: CapturedRun, makers: Sequence[Call]) -> list[Call]:
    """The calls upstream of the answer, in order of their ends."""
    calls = [call for call in run.walk() if call.ended is not None and call not in makers]
    if makers and all(call.sources is not None for call in makers):
        wired = {inner for maker in makers for call in maker.behind() for inner in call.walk()}
        calls = [call for call in calls if call in wired]
    elif makers:
        began = max(call.began for call in makers)
        calls = [call for call in calls if call.ended is not None and call.ended < began]
    return sorted(calls, key=lambda call: call.ended or 0)
