"""Counts of contexts found in the requests of a run's samples."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from ragmetrics_core.samples import SHOWN_STATES, Sample
from ragmetrics_core.texts.wording import number_of

__all__ = ["ShownContexts"]


@dataclass
class ShownContexts:
    """Counts of contexts found in the requests that the models received; only samples with stages count.

    Attributes:
        samples: number of samples with stages.
        states: number of their contexts that are "verified", "partial", "absent" or "unseen".
        nothing: number of samples whose model received no contexts.
        unknown: number of samples for which this is unknown.
        contradicted: numbers of the contexts missing from the request, by sample.
        words: number of words in the requests.
        accounted: how many of them come from a known text.
        unaccounted: ids of the samples with texts of unknown origin.
        unseen: ids of the samples whose request was not seen.
    """

    samples: int = 0
    states: Counter[str] = field(default_factory=Counter[str])
    nothing: int = 0
    unknown: int = 0
    contradicted: dict[str, list[int]] = field(default_factory=dict[str, list[int]])
    words: int = 0
    accounted: int = 0
    unaccounted: list[str] = field(default_factory=list[str])
    unseen: list[str] = field(default_factory=list[str])

    @classmethod
    def of(cls, samples: Iterable[Sample]) -> "ShownContexts":
        """Count, in one pass."""
        counts = cls()
        for sample in samples:
            if sample.stages is None and sample.request_messages is None:
                continue
            counts.samples += 1
            counts.states.update(sample.shown)
            counts.unknown += sample.contexts is None and not sample.is_withheld
            counts.nothing += sample.contexts == ()
            if (stage := sample.shown_stage) is not None:
                counts.words += stage.words or 0
                counts.accounted += stage.accounted or 0
            if "unseen" in sample.shown:
                counts.unseen.append(sample.id)
            if sample.unaccounted:
                counts.unaccounted.append(sample.id)
            if absent := [number for number, state in enumerate(sample.shown, start=1) if state == "absent"]:
                counts.contradicted[sample.id] = absent
        return counts

    def lines(self) -> Iterator[str]:
        """Lines of text: the counts, then each sample with missing contexts."""
        if not self.samples:
            return
        states = [f"{self.states[state]} {state}" for state in SHOWN_STATES if self.states[state]]
        more = [f"nothing shown in {self.nothing}"] if self.nothing else []
        more += [f"unknown in {self.unknown}"] if self.unknown else []
        samples = number_of(self.samples, "sample")
        yield f"contexts of {samples}, sought in what the models were sent: {', '.join(states + more)}"
        if self.words:
            yield f"{self.accounted} of {number_of(self.words, 'word')} of the requests are accounted for"
        for sample_id in self.unaccounted:
            yield f"{sample_id}: the request has text of unknown origin; `show` names the option that decides"
        for sample_id in self.unseen:
            yield f"{sample_id}: no request was seen, so it is unknown which contexts were shown"
        for sample_id, numbers in self.contradicted.items():
            which = f"context{'s' * (len(numbers) > 1)} {', '.join(map(str, numbers))}"
            yield f"{sample_id}: {which} not in what the model was sent"
