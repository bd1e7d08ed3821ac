"""Citation support: do the cited chunks support the sentences that cite them?"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ragmetrics_core import prompts
from ragmetrics_core.asking import ask_each, review, split, together
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.measurement import Decision, Judged, Labels, Measurement, undefined
from ragmetrics_core.metrics._steps.shares import supported_share
from ragmetrics_core.metrics.metric import Metric
from ragmetrics_core.parsers import VerdictList
from ragmetrics_core.prompts import Prompt
from ragmetrics_core.protocol import Steps
from ragmetrics_core.samples import Grounded

__all__ = ["CitationSupport"]

SUPPORTS = Labels("supports", "does not support")
_MARKER = re.compile(r"\[(\d{1,4}(?:\s?[,;]\s?\d{1,4}){0,20})\]")
_LEADING = re.compile(rf"\s*(?:{_MARKER.pattern}\s*)+")


@dataclass(frozen=True, kw_only=True)
class CitationSupport(Metric[Grounded]):
    """Share of the answer's citations whose chunk supports the sentence that cites it.

    Replaced by `citation_recall` and `citation_precision`: if a sentence needs two chunks together, both of
    its citations fail here, and ALCE counts both. It remains for runs that already use it.

    Range [0, 1], higher is better; undefined when the answer cites nothing. A citation is a number in square
    brackets, [2] or [1, 3], and names a chunk by its rank. A marker after a full stop belongs to the sentence
    before it; a marker at the start of a line belongs to the sentence after it. A citation of a chunk that
    was not retrieved is not supported. A sentence without a citation does not count.

    Attributes:
        first: number by which the answer cites the first chunk.

    Gao et al. (2023), ALCE, "citation precision": https://arxiv.org/abs/2305.14627
    """

    name = "citation_support"
    inputs = Grounded

    first: int = 1
    verify: Prompt[VerdictList] = prompts.VERDICTS

    def check(self) -> None:
        """Reject a negative `first`."""
        if self.first < 0:
            raise ConfigError(f"citation_support: first must be 0 or more, not {self.first}")

    def measure(self, sample: Grounded) -> Steps[Measurement]:
        """Find the citations, judge each sentence against each cited chunk, take the share."""
        sentences = yield from split(sample.answer)
        cited: dict[int, list[str]] = {}
        for text, numbers in _cited(sample.answer, sentences):
            for number in numbers:
                cited.setdefault(number - self.first, []).append(text)
        if not cited:
            return undefined("no_citations")
        groups = yield from together(
            *(self._judged(place, texts, sample.contexts) for place, texts in sorted(cited.items()))
        )
        judged = Judged.derived((known for group in groups for known in group.known), *groups)
        return supported_share(judged, "supported", "citations")

    def _judged(self, place: int, texts: Sequence[str], contexts: Sequence[str]) -> Steps[Judged]:
        about = f"sentence that cites chunk {place + self.first}"
        chunk = contexts[place] if 0 <= place < len(contexts) else ""
        if not chunk.strip():
            why = "the chunk is blank" if 0 <= place < len(contexts) else "there is no such chunk"
            return (
                yield from review(
                    [Decision(text, False, why) for text in texts], about=about, labels=SUPPORTS
                )
            )
        return (
            yield from ask_each(
                self.verify, texts, about=about, labels=SUPPORTS, ranks=(place + 1,), contexts=(chunk,)
            )
        )


def _cited(answer: str, sentences: Sequence[str]) -> list[tuple[str, tuple[int, ...]]]:
    """Each sentence without its markers, and its cited numbers without repeats."""
    found: list[tuple[str, tuple[int, ...]]] = []
    end = 0
    for sentence in sentences:
        start = max(answer.find(sentence, end), end)
        # what the splitter left out before it: a marker that begins a line looks like a list number
        before, end = answer[end:start], start + len(sentence)
        begins_line = len(f"{before}.".splitlines()) > 1
        match = _LEADING.fullmatch if begins_line else _LEADING.match
        leading = match(sentence) if found else None
        if leading:
            text, numbers = found[-1]
            found[-1] = text, tuple(dict.fromkeys((*numbers, *_numbers(leading[0]))))
        own = sentence[leading.end() :] if leading else sentence
        plain = re.sub(r"\s+([.,;:!?])", r"\1", " ".join(_MARKER.sub(" ", own).split()))
        if plain:
            found.append((plain, _numbers(before + own)))
    return found


def _numbers(text: str) -> tuple[int, ...]:
    markers = (number for marker in _MARKER.findall(text) for number in re.findall(r"\d+", marker))
    return tuple(dict.fromkeys(map(int, markers)))
