"""Checks of an existing test set, with the same filters and records as those of a generated one."""

import hashlib
import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Unpack

from ragmetrics_core.adapting import synchronous
from ragmetrics_core.boundary.keywords import listing_settings
from ragmetrics_core.boundary.redaction import Redact
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.models import Budget, Traffic
from ragmetrics_core.prompts import digest_of
from ragmetrics_core.questions._checks import Checks, StoredRecords, check_metrics
from ragmetrics_core.questions._derivation import Derived, candidate_lines, checked
from ragmetrics_core.questions._documents import Corpus, CorpusSource, read_corpus
from ragmetrics_core.questions._filters import Candidate
from ragmetrics_core.questions._foreign_sets import read_questions
from ragmetrics_core.questions._generating import SetModels, advance, corpus_lines, limits_of
from ragmetrics_core.questions._model import Question
from ragmetrics_core.questions._set_files import CANDIDATES, CORPUS
from ragmetrics_core.questions._settings import CheckSettings, left_out_of
from ragmetrics_core.questions._test_set import QuestionSet
from ragmetrics_core.runs import EVALUATION_DEFAULTS, EvaluationArgs, Progress
from ragmetrics_core.runs.preparation import AnyJudge, Prompts

__all__ = ["acheck_questions", "check_questions"]


@listing_settings(EvaluationArgs, EVALUATION_DEFAULTS)
async def acheck_questions(
    questions: object,
    corpus: CorpusSource | Corpus,
    *,
    out: str | Path,
    judge: AnyJudge,
    sample: int | None = None,
    seed: int = 0,
    first_hit_share: float = 0.7,
    leave_out: Sequence[str] = (),
    requests: str | Path | None = None,
    prompts: Prompts | None = None,
    cache: str | Path | None = None,
    redact: Redact | None = None,
    traffic: Traffic | None = None,
    budget: Budget | None = None,
    progress: Callable[[Progress], None] | bool | None = None,
    **settings: Unpack[EvaluationArgs],
) -> QuestionSet:
    """Check the questions of an existing test set, and keep the records.

    The filters are those of `generate_questions`, with one difference: if BM25's first hit answers too many
    of the questions, none is dropped for it, but the set is not complete. The same call resumes an earlier
    one. `check_questions` waits, `acheck_questions` is awaited.

    Args:
        questions: a test set of this or another library, as for `read_questions`.
        corpus: its documents, as for `read_corpus`, or a `Corpus`.
        out: folder of the checks.
        judge: the model that checks, as for `evaluate`.
        sample: number of questions to check, chosen at random. Default: all.
        seed: seed of the choice.
        first_hit_share: maximum share of the questions that the first hit of BM25 alone answers.
        leave_out: metrics that are not measured: `question_quality`, so that unclear questions pass, or
            `closed_book_accuracy`, so that the label `known_without_documents` is missing.
        requests: file for the open requests, which are then not made; see `export_wave`.
        prompts: as for `evaluate`.
        cache: path of a journal that several sets share, instead of the folder's own.
        redact: as for `evaluate`; also applied to documents and questions.
        traffic: as for `evaluate`.
        budget: as for `evaluate`.
        progress: as for `evaluate`.
        settings: single settings of `traffic` and `budget`, as for `evaluate`.

    Returns:
        The questions that passed, and the others with the reasons. Rows that are not questions are in
        `QuestionSet.dropped`, too.

    Raises:
        ConfigError: before any call, if an argument is wrong or the folder holds another set.
        SampleError: questions or corpus cannot be read.
        RunStopped: the model refuses every call.
    """
    left_out = left_out_of(leave_out)
    if not 0 <= first_hit_share <= 1:
        raise ConfigError(f"first_hit_share must be from 0 to 1, not {first_hit_share}")
    if sample is not None and sample < 1:
        raise ConfigError(f"sample must be at least 1, not {sample}")
    traffic, budget = limits_of(traffic, budget, settings)
    documents = corpus if isinstance(corpus, Corpus) else read_corpus(corpus, redact=redact)
    candidates = _chosen(_candidates(questions, documents, redact), sample, seed)
    metrics = check_metrics(left_out)
    models = SetModels(judge, None, prompts, redact, asked=requests is None, metrics=metrics)
    bench = await models.bench(Path(out), cache, traffic, budget, progress)
    given = candidate_lines(candidates)
    chosen = CheckSettings(
        corpus=documents.digest,
        questions=hashlib.sha256(given.encode()).hexdigest(),
        checker=bench.judges["quoted"].identity,
        left_out=left_out,
        first_hit_share=first_hit_share,
        redacted=redact is not None,
    )
    checks = Checks(documents)

    def derive(stored: StoredRecords) -> Derived:
        return checked(candidates, chosen, checks, stored)

    files = {CORPUS: corpus_lines(documents), CANDIDATES: given}
    return await advance(bench, chosen, derive, files, requests)


check_questions = synchronous(acheck_questions)
"""Check the questions of an existing test set, and wait; takes the arguments of `acheck_questions`."""


def _candidates(questions: object, corpus: Corpus, redact: Redact | None) -> list[Candidate]:
    """The questions of a source; rows that are not questions are candidates with a fault."""
    result = read_questions(questions, corpus, redact=redact)
    faulty = [
        Candidate(Question(id=f"r-{digest_of(row.where)[:16]}", question=""), row.where, fault=row.message)
        for row in result.skipped
    ]
    return [*result.candidates, *faulty]


def _chosen(candidates: Sequence[Candidate], count: int | None, seed: int) -> Sequence[Candidate]:
    """A random choice of candidates, in their order."""
    if count is None or count >= len(candidates):
        return candidates
    places = sorted(random.Random(seed).sample(range(len(candidates)), count))
    return [candidates[place] for place in places]
