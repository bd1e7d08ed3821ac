"""The truth of a case, from the kept bodies, and what a recorded sample has to do with it."""

import html
import json
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from ragmetrics_core import Sample
from tests.integrations.body_keeping import Exchange
from tests.integrations.generated.material import HEADER, TEMPLATES, Case, template

__all__ = ["Truth", "problems", "truth", "words"]

_CJK = "\u3040-\u30ff\u3400-\u9fff"
_WORD = re.compile(rf"[{_CJK}]|[^\W_{_CJK}]+")
_ESCAPE = re.compile(r'\\(?:u([0-9a-fA-F]{4})|([nrt])|(["\\/]))')
_JOINED = " … "
DEMANDED = 6
"""A run of so many words is no chance."""


class Truth(NamedTuple):
    """What was sent.

    Attributes:
        body: the answering request's words, without its template's and the model's.
        certain: likewise, with the requests from which its drafts were made.
        possible: also with the requests whose replies are too short to be told from chance.
    """

    body: list[str]
    certain: list[str]
    possible: list[str]


def words(text: str) -> list[str]:
    """The words of a text, without what markup, escapes, numbering, case and Unicode forms add to them."""
    text = _ESCAPE.sub(lambda m: chr(int(m[1], 16)) if m[1] else " " if m[2] else m[3], text)
    text = re.sub(r"</?[a-zA-Z][^<>]{0,80}>", " ", html.unescape(html.unescape(text)))
    text = re.sub(r"^\s*\d+\.\s", " ", text, flags=re.MULTILINE)
    return _WORD.findall(unicodedata.normalize("NFKC", text.replace("*", "")).casefold())


def _weight(run: Sequence[str]) -> float:
    """How many words a run is worth: two characters of Chinese or Japanese are one."""
    return sum(0.5 if "\u3040" <= word[0] <= "\u9fff" else 1 for word in run)


class _Index:
    """Words whose runs are looked up."""

    def __init__(self, text: Sequence[str]) -> None:
        self.text = text
        self.places: dict[str, list[int]] = defaultdict(list)
        for place, word in enumerate(text):
            self.places[word].append(place)

    def runs(self, text: Sequence[str]) -> Iterator[slice]:
        """The longest shared runs, from the left."""
        start = 0
        while start < len(text):
            size = max(
                (self._length(text, start, place) for place in self.places.get(text[start], ())), default=0
            )
            if size:
                yield slice(start, start + size)
            start += size or 1

    def _length(self, text: Sequence[str], start: int, place: int) -> int:
        size = 1
        while (
            start + size < len(text)
            and place + size < len(self.text)
            and text[start + size] == self.text[place + size]
        ):
            size += 1
        return size


def _covered(text: Sequence[str], index: _Index, least: float) -> set[int]:
    """The places in a text that lie in runs of this weight at least."""
    found: set[int] = set()
    for run in index.runs(text):
        if _weight(text[run]) >= least:
            found.update(range(run.start, run.stop))
    return found


def truth(case: Case, exchanges: Sequence[Exchange]) -> Truth:
    """The words that the requests held from which the answer was made."""
    answering = [each for each in exchanges if each.reply == case.final][-1:]
    certain, possible = list(answering), list(answering)
    # a draft is made before it is sent
    for each in reversed(
        [each for each in exchanges if isinstance(each.reply, str) and each not in answering]
    ):
        reply = str(each.reply)
        if _weight(words(reply)) >= DEMANDED and any(_stands_in(reply, later.text) for later in certain):
            certain.append(each)
        if any(_stands_in(reply, later.text) for later in possible):
            possible.append(each)
    return Truth(*(_variable(case, those) for those in (answering, certain, possible)))


def _forms(reply: str) -> tuple[str, ...]:
    """A reply as it is, and as JSON has it: Haystack's agents read what a pipeline returns as JSON."""
    return reply, json.dumps(reply)[1:-1], json.dumps(reply, ensure_ascii=False)[1:-1]


def _stands_in(reply: str, text: str) -> bool:
    """Whether a reply is part of a text, and not of a word of it."""
    return any(re.search(rf"(?<!\w){re.escape(form)}(?!\w)", text) for form in _forms(reply))


def _variable(case: Case, exchanges: Sequence[Exchange]) -> list[str]:
    """The words of requests that neither their template nor the model brought."""
    heads = [template(case, name).partition("{")[0] for name in TEMPLATES] + [case.rules.strip() or "\n"]
    written = [form for reply in case.written if len(reply) > 20 for form in _forms(reply)]
    found: list[str] = []
    for each in exchanges:
        text = each.text
        for head in heads:
            text = text.replace(head, "\n", 1)
        for reply in written:
            text = text.replace(reply, "\n")
        found += [*words(text), "\n"]
    return found


def problems(case: Case, sample: Sample, exchanges: Sequence[Exchange]) -> list[str]:
    """How the sample differs from the truth."""
    sent = truth(case, exchanges)
    return [
        problem
        for check in (_answer, _crumbs, _lacking, _unrecorded, _foreign, _nothing, _verified, _unaccounted)
        for problem in check(case, sample, sent)
    ]


def _unseen(case: Case) -> bool:
    """Whether no request of the answer can be seen: a client answers that the framework does not know."""
    return case.step.endswith("raw")


def _answer(case: Case, sample: Sample, sent: Truth) -> Iterator[str]:
    if sent.body and (sample.answer or "").strip() != case.given.strip():
        yield f"answer {sample.answer!r}"


def _chunks(sample: Sample) -> list[tuple[str, str | None]]:
    """The contexts with what is known of them."""
    contexts = sample.contexts or ()
    return list(zip(contexts, sample.shown or [None] * len(contexts), strict=True))


def _crumbs(case: Case, sample: Sample, sent: Truth) -> Iterator[str]:
    """The header that documents share is recorded as often as it was sent."""
    start = words(HEADER)[:4]
    sizes = [_times(start, words("\n".join(sample.contexts or ()))), _times(start, sent.possible)]
    if sizes[0] > sizes[1] and not _unseen(case) and "unseen" not in sample.shown:
        yield f"a header was recorded {sizes[0]} times and sent {sizes[1]} times"


def _times(run: Sequence[str], text: Sequence[str]) -> int:
    return sum(text[place : place + len(run)] == run for place in range(len(text)))


def _lacking(case: Case, sample: Sample, sent: Truth) -> Iterator[str]:
    """Nothing is recorded that was not sent."""
    index = _Index(sent.possible)
    for text, shown in _chunks(sample):
        if _unseen(case) or shown == "unseen":
            continue
        for piece in text.split(_JOINED):
            recorded = words(piece)
            # a piece may begin within a tag
            missing = [word for word in recorded if word not in index.places and word not in ("p", "b")]
            if missing:
                some = " ".join(missing[:4])
                yield f"recorded as {shown}, not sent: {len(missing)} of {len(recorded)} words, {some!r}"
            elif len(_covered(recorded, index, min(3, _weight(recorded)))) < 0.5 * len(recorded):
                yield f"recorded as {shown}, sent only as crumbs: {piece[:40]!r}"


def _unrecorded(case: Case, sample: Sample, sent: Truth) -> Iterator[str]:
    """All runs of the evidence that were sent are recorded."""
    if _unseen(case):
        return
    index = _Index(sent.certain)
    recorded = _Index([word for text in sample.contexts or () for word in [*words(text), "\n"]])
    for place, text in enumerate(case.evidence):
        own = words(text)
        held = _covered(own, index, DEMANDED)
        if not held - set(range(len(words(HEADER)))):
            continue  # of this text, only the header that several share was sent
        lost = held - _covered(own, recorded, 2)
        if len(lost) > max(2, 0.1 * len(held)):
            kind = "document" if place < len(case.documents) else case.source
            why = f" ({sample.labels.get('found_contexts')})" if sample.contexts is None else ""
            yield f"{kind} {place} sent, not recorded: {len(lost)} of {len(own)} words{why}"


def _foreign(case: Case, sample: Sample, sent: Truth) -> Iterator[str]:
    """No text of a model or of code is a context."""
    evidence = _Index([word for text in case.evidence for word in [*words(text), "\n"]])
    for kind, texts in (("a model", case.written), ("code", case.code)):
        index = _Index([word for text in texts for word in [*words(text), "\n"]])
        for text in sample.contexts or ():
            recorded = words(text)
            own = _covered(recorded, evidence, 2)
            if recorded and len(_covered(recorded, index, 3) - own) > 0.5 * len(recorded):
                yield f"text of {kind} recorded: {text[:40]!r}"


def _nothing(case: Case, sample: Sample, sent: Truth) -> Iterator[str]:
    """Nothing is said to have been shown only if nothing was."""
    if sample.contexts != ():
        return
    if _unseen(case):
        yield "nothing shown, though no request was seen"
        return
    index = _Index(sent.certain)
    for text in (*case.evidence, *case.code):
        if _covered(words(text), index, 8):
            yield f"nothing shown, though sent: {text[:40]!r}"
            return


def _verified(case: Case, sample: Sample, sent: Truth) -> Iterator[str]:
    """A verified text is a whole one, and shares are right."""
    index = _Index(sent.possible)
    *before, last = sample.stages or (None,)
    whole = {chunk.id: chunk.text or "" for stage in before for chunk in stage.chunks if chunk.id}
    for chunk in last.chunks if last else ():
        recorded, share = words(chunk.text or ""), getattr(chunk, "share", None)
        if chunk.shown == "unseen" and sent.body and not _unseen(case):
            yield "unseen, though a request of the framework was answered with the answer"
        if chunk.shown == "verified" and _unseen(case):
            yield "verified, though no request was seen"
        if chunk.shown == "verified" and share not in (None, 1):
            yield f"verified with the share {share}"
        if chunk.shown == "verified" and len(recorded) < len(words(whole.get(chunk.id or "", ""))):
            yield f"verified, though a part: {(chunk.text or '')[:40]!r}"
        own = words(whole.get(chunk.id or "", ""))
        if chunk.shown == "partial" and own and not _unseen(case):
            true = len(_covered(own, index, 2)) / len(own)
            if true == 1:
                yield "recorded as partial, sent as a whole"
            elif share is not None and abs(share - true) > 0.1 + 3 / len(own):
                yield f"share {share:.2f}, truly {true:.2f}"


def _unaccounted(case: Case, sample: Sample, sent: Truth) -> Iterator[str]:
    """Texts of code are recorded as unaccounted."""
    holder: Any = sample if hasattr(sample, "unaccounted") else sample.shown_stage
    if _unseen(case) or not hasattr(holder, "unaccounted"):
        return
    index = _Index(sent.body)
    open_ends = _Index(
        [word for each in holder.unaccounted or () for word in [*words(getattr(each, "text", each)), "\n"]]
    )
    for text in case.code:
        own = words(text)
        held = _covered(own, index, 12)
        lost = held - _covered(own, open_ends, 2)
        if len(lost) > 0.2 * len(held):
            yield f"text of code sent, and accounted for: {len(lost)} of {len(own)} words"
