"""Questions of live traffic, with the recorded answers as proposals for gold answers."""

import hashlib
import math
import random
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final, NamedTuple

from ragmetrics_core.boundary.redaction import Redact
from ragmetrics_core.boundary.writing import put_in_place
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.questions._documents import Corpus
from ragmetrics_core.questions._filters import are_near_duplicates
from ragmetrics_core.questions._foreign_sets import without
from ragmetrics_core.questions._generating import begin_set, corpus_lines, earlier_set
from ragmetrics_core.questions._model import Question, Quote
from ragmetrics_core.questions._quotes import find_quotes
from ragmetrics_core.questions._rows import question_id, row_of, without_own_names
from ragmetrics_core.questions._set_files import (
    CORPUS,
    QUESTIONS,
    TEST_SET,
    CellCount,
    SetSummary,
    lines_of,
    summary_text,
)
from ragmetrics_core.questions._settings import TrafficSettings, counts_of
from ragmetrics_core.questions._test_set import QuestionSet
from ragmetrics_core.records import Record
from ragmetrics_core.runs import MetricEntry, Run
from ragmetrics_core.runs.lock import FolderLock
from ragmetrics_core.samples import Label, Sample

__all__ = ["ChosenQuestions", "questions_of_run"]

_FAITHFULNESS: Final = "faithfulness"
_STATEMENT: Final = "answer statement"
_BANDS: Final = 4
_FEW: Final = "the run has no more different questions"


class ChosenQuestions(NamedTuple):
    """Questions chosen from a run.

    Attributes:
        questions: the questions; without a proposed answer, they have no answer and no quotes.
        available: number of samples by stratum.
        chosen: number of questions by stratum.
        repeated: number of samples left out because they nearly repeat a chosen question.
        asked: number of questions that were asked for in each stratum.
        corpus: the documents.
        settings: what the questions were chosen by.
    """

    questions: tuple[Question, ...]
    available: Mapping[str, int]
    chosen: Mapping[str, int]
    repeated: int
    asked: Mapping[str, int]
    corpus: Corpus
    settings: TrafficSettings

    def write(self, folder: str | Path) -> QuestionSet:
        """Write the questions as a test set that nobody has checked.

        Raises:
            ConfigError: the folder holds another test set.
        """
        place = Path(folder)
        cells = [
            CellCount(
                label=stratum,
                value=None,
                kind=None,
                asked=asked,
                kept=self.chosen[stratum],
                why_short=_FEW if self.chosen[stratum] < asked else "",
            )
            for stratum, asked in self.asked.items()
        ]
        summary = SetSummary(settings=self.settings, finished=True, cells=tuple(cells))
        with FolderLock(place):
            if earlier_set(place, self.settings) is None:
                begin_set(place, {CORPUS: corpus_lines(self.corpus)}, self.settings)
            put_in_place(place / QUESTIONS, lines_of(map(row_of, self.questions)))
            put_in_place(place / TEST_SET, summary_text(summary))
        return QuestionSet(place)


def questions_of_run(
    run: Run,
    corpus: Corpus,
    *,
    per: int | Mapping[str, int],
    seed: int = 0,
    redact: Redact | None = None,
) -> ChosenQuestions:
    """Choose questions from a run, and propose the faithful answers as gold answers.

    An answer is proposed if its faithfulness is 1 and the corpus contains what the judge quoted for it, which
    becomes its quotes. Nobody has checked these questions: each has the label `checked`, which is False.

    Args:
        run: the run, such as a folder of live scoring.
        corpus: the documents. Pass the same `redact` to `read_corpus`.
        per: number of questions in all, for each value of a label of the samples, or for each quarter of the
            range of a metric of the run, by the label's or the metric's name.
        seed: seed of the random choice.
        redact: function that removes private parts from a text.

    Raises:
        ConfigError: `per` names neither a label nor a metric of the run, or both; or the run has no question.
    """
    samples = sorted((each for each in run.samples() if each.question), key=lambda sample: sample.id)
    if not samples:
        raise ConfigError("no sample of the run has a question: pass a run whose samples have some")
    random.Random(seed).shuffle(samples)
    questions: list[Question] = []
    available: Counter[str] = Counter()
    chosen: Counter[str] = Counter()
    repeated: set[str] = set()
    taken: set[str] = set()
    faithful = _records(run)
    asked: dict[str, int] = {}
    for name, count in counts_of(per).items():
        stratum = _stratum(name, run, samples)
        for sample in samples:
            place = stratum(sample)
            available[place] += 1
            asked[place] = count
            if chosen[place] >= count or sample.id in repeated or sample.id in taken:
                continue
            question = _question(sample, faithful.get(sample.id), corpus, redact)
            if any(are_near_duplicates(question, other) for other in questions):
                repeated.add(sample.id)
                continue
            questions.append(question)
            taken.add(sample.id)
            chosen[place] += 1
    digest = hashlib.sha256("".join(sorted(sample.digest for sample in samples)).encode()).hexdigest()
    settings = TrafficSettings(
        corpus=corpus.digest, run=digest, per=per, seed=seed, redacted=redact is not None
    )
    return ChosenQuestions(
        tuple(questions), available, chosen, len(repeated), dict(sorted(asked.items())), corpus, settings
    )


def _stratum(name: str, run: Run, samples: list[Sample]) -> Callable[[Sample], str]:
    """Function that gives the stratum of a sample."""
    if not name:
        return lambda _: "all"
    is_label = any(name in sample.labels for sample in samples)
    entries = [entry for entry in run.metrics if name in (entry.name, entry.signature)]
    if is_label and entries:
        raise ConfigError(f"{name!r} is a label and a metric of the run; rename the label")
    if is_label:
        return lambda sample: f"{name}={_written(sample.labels.get(name))}"
    if len(entries) == 1:
        return _bands(entries[0], run)
    labels = sorted({label for sample in samples for label in sample.labels})
    known = ", ".join([*labels, *(entry.signature for entry in run.metrics)])
    raise ConfigError(f"the run has no label and no single metric {name!r}; there is {known}")


def _written(value: Label) -> str:
    return "none" if value is None else f"{value:g}" if isinstance(value, float) else str(value)


def _bands(entry: MetricEntry, run: Run) -> Callable[[Sample], str]:
    """The quarter of a metric's range in which a sample's score lies; scores beyond an end count to it."""
    width = (entry.high - entry.low) / _BANDS
    if not math.isfinite(width):
        raise ConfigError(f"the scores of {entry.signature} have no highest value; choose by another metric")
    values = {
        key.sample_id: outcome.value for key, outcome in run.outcomes() if key.signature == entry.signature
    }

    def band(sample: Sample) -> str:
        value = values.get(sample.id)
        if value is None:
            return f"{entry.name}: no value"
        number = min(max(int((value - entry.low) / width), 0), _BANDS - 1)
        start = entry.low + number * width
        return f"{entry.name}: {start:g} to {start + width:g}"

    return band


def _records(run: Run) -> dict[str, Record]:
    """The records of complete faithfulness, by sample id."""
    signatures = [entry.signature for entry in run.metrics if entry.name == _FAITHFULNESS]
    if not signatures:
        return {}
    return {
        record.sample_id: record
        for record in run.records(signatures[0])
        if record.status == "ok" and record.value == 1
    }


def _question(sample: Sample, record: Record | None, corpus: Corpus, redact: Redact | None) -> Question:
    """A sample as an unchecked question."""
    quotes = () if record is None else _quotes(record, sample, corpus, redact)
    source_id = sample.id
    if redact is not None:
        sample = sample.redacted(redact)
    answer = sample.answer if quotes else None
    question = sample.question or ""
    return Question(
        id=question_id(question, answer, quotes),
        question=question,
        answer=answer,
        quotes=quotes,
        history=sample.history or (),
        language=sample.language,
        labels={**without_own_names(sample.labels), "source_id": source_id, "checked": False},
    )


def _quotes(record: Record, sample: Sample, corpus: Corpus, redact: Redact | None) -> tuple[Quote, ...]:
    """Places in the corpus of what the judge quoted for each statement; empty if a statement has none."""
    quotes: dict[Quote, None] = {}
    for verdict in record.verdicts:
        if verdict.about != _STATEMENT:
            continue
        places: list[Quote] = []
        for evidence in verdict.evidence:
            if evidence.source != "contexts":
                continue
            places, missing = find_quotes(
                [without(redact, evidence.quote)], corpus, near=sample.context_ids or ()
            )
            if not missing:
                break
        if not places:
            return ()
        quotes |= dict.fromkeys(places)
    return tuple(quotes)
