"""Generation of test sets: rounds of writing tasks and checks, resumed from the records in the folder."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, Unpack

from ragmetrics_core.adapting import synchronous
from ragmetrics_core.boundary.keywords import listing_settings, names_in, refuse_unknown
from ragmetrics_core.boundary.redaction import Redact
from ragmetrics_core.boundary.writing import put_in_place
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.metrics import resolve
from ragmetrics_core.models import Budget, BudgetArgs, Price, Traffic, TrafficArgs, as_judge
from ragmetrics_core.models.identity import WITHOUT_IDENTITY
from ragmetrics_core.prompts import library_names, read_folder
from ragmetrics_core.protocol import Judge
from ragmetrics_core.questions._checks import (
    CHECKS,
    METRICS,
    Checks,
    Stage,
    StoredRecords,
    metrics_without,
)
from ragmetrics_core.questions._derivation import Derived, progressed, summary_of
from ragmetrics_core.questions._documents import Corpus, CorpusSource, read_corpus
from ragmetrics_core.questions._model import Question, Quote
from ragmetrics_core.questions._set_files import (
    CORPUS,
    TEST_SET,
    SetSummary,
    files_of,
    is_run,
    lines_of,
    summary_in,
    summary_text,
)
from ragmetrics_core.questions._settings import (
    OPTIONAL,
    SET_DEFAULTS,
    AnySettings,
    SetArgs,
    TestSetSettings,
    left_out_of,
    settings_of,
)
from ragmetrics_core.questions._tasks import Task, Tasks, cells_of
from ragmetrics_core.questions._test_set import QuestionSet
from ragmetrics_core.runs import (
    EVALUATION_DEFAULTS,
    EvaluationArgs,
    Plan,
    Progress,
    Run,
    aevaluate,
    aplan,
    export_wave,
)
from ragmetrics_core.runs.lock import FolderLock
from ragmetrics_core.runs.preparation import AnyJudge, Prompts, prepare, prompt_names
from ragmetrics_core.runs.prices import price_of
from ragmetrics_core.samples import Sample

__all__ = [
    "Bench",
    "QuestionPlan",
    "agenerate_questions",
    "aplan_questions",
    "generate_questions",
    "plan_questions",
]

# Ids that this package made hold nothing private, and may look like what is taken out.
_OWN_ID = re.compile(r"[qw]-[0-9a-f]{16}")
# Names of all metrics of a test set.
_NAMES = tuple(dict.fromkeys(name for names in METRICS.values() for name in names))
# Words of a passage that stand in for a quote in a plan.
_USUAL_QUOTE = 30


class GenerationArgs(SetArgs, EvaluationArgs, total=False):
    """Keywords of `generate_questions` and `plan_questions`."""


GENERATION_DEFAULTS: Mapping[str, Any] = {**SET_DEFAULTS, **EVALUATION_DEFAULTS}


@dataclass
class Bench:
    """The models of a test set, and what they may still spend: measures the samples of a stage.

    Attributes:
        folder: folder of the test set.
        metrics: names of the metrics of each stage.
        judges: the model of each stage.
        prompts: texts of prompts that replace those of the library, by name.
        cache: journal of all calls.
        traffic: limits on calls.
        budget: what may still be spent.
        redact: removes private parts from replies.
        progress: as for `evaluate`.
    """

    folder: Path
    metrics: Mapping[Stage, tuple[str, ...]]
    judges: Mapping[Stage, Judge]
    prices: Mapping[Stage, Price | None]
    prompts: Mapping[str, Any]
    cache: Path
    traffic: Traffic
    budget: Budget
    redact: Redact | None = None
    progress: Callable[[Progress], None] | bool | None = None

    def settled(self, corpus: Corpus, per: int | Mapping[str, int], given: GenerationArgs) -> TestSetSettings:
        """The settings of a test set that these models write and check."""
        return settings_of(
            corpus.digest,
            self.judges["written"].identity,
            self.judges["quoted"].identity,
            per,
            _part(given, SetArgs),
            redacted=self.redact is not None,
        )

    def settings(self, stage: Stage) -> dict[str, Any]:
        """Keywords of `evaluate` and its relatives for a stage."""
        metrics = resolve(self.metrics[stage])
        names = {name for metric in metrics for name in prompt_names(metric)}
        prompts = {key: text for key, text in self.prompts.items() if key.partition(".")[0] in names}
        return {
            "metrics": metrics,
            "judge": self.judges[stage],
            "prompts": prompts or None,
            "redact": None if self.redact is None else self._redacted,
        }

    async def measure(self, stage: Stage, samples: Sequence[Sample]) -> Run:
        """Measure samples, with those of earlier rounds kept, and take the calls off the budget."""
        place = self.folder / stage
        before = Run.load(place).tally if is_run(place) else {}
        run = await aevaluate(
            samples,
            **self.settings(stage),
            out=place,
            add=True,
            cache=self.cache,
            traffic=self.traffic,
            budget=self.budget,
            progress=self._progress_of(stage),
        )
        self._spend({name: count - before.get(name, 0) for name, count in run.tally.items()}, stage)
        return run

    def _spend(self, tally: Mapping[str, int], stage: Stage) -> None:
        budget, price = self.budget, self.prices[stage]
        tokens = tally["prompt_tokens"] + tally["completion_tokens"]
        if budget.calls is not None:
            budget = replace(budget, calls=max(budget.calls - tally["calls"], 0))
        if budget.tokens is not None:
            budget = replace(budget, tokens=max(budget.tokens - tokens, 0))
        if budget.cost is not None and price is not None:
            spent = tally["prompt_tokens"] * price.prompt + tally["completion_tokens"] * price.completion
            budget = replace(budget, cost=max(budget.cost - spent / 1e6, 0.0))
        self.budget = budget

    def why_open(self, stage: Stage, samples: Sequence[Sample], run: Run) -> str:
        """Reason that samples have no records although they were measured.

        Raises:
            ConfigError: nothing explains it but a function that changes its own replacements.
        """
        records = (record for sample in samples for record in run.scores(sample.id).values())
        reason = next((record.reason for record in records if record.status == "cancelled"), None)
        if reason is None:
            raise ConfigError(
                f"the samples of {stage} changed while they were measured: redact must not change "
                "its own replacements"
            )
        return reason

    def _progress_of(self, stage: Stage) -> Callable[[Progress], None] | bool | None:
        """The progress function, which also gets the stage."""
        report = self.progress
        if not callable(report):
            return report
        return lambda progress: report(progress._replace(stage=stage))

    def _redacted(self, text: str) -> str:
        assert self.redact is not None
        return text if _OWN_ID.fullmatch(text) else self.redact(text)


@listing_settings(GenerationArgs, GENERATION_DEFAULTS)
async def agenerate_questions(
    corpus: CorpusSource | Corpus,
    *,
    out: str | Path,
    judge: AnyJudge,
    per: int | Mapping[str, int],
    checker: AnyJudge | None = None,
    requests: str | Path | None = None,
    prompts: Prompts | None = None,
    cache: str | Path | None = None,
    redact: Redact | None = None,
    traffic: Traffic | None = None,
    budget: Budget | None = None,
    progress: Callable[[Progress], None] | bool | None = None,
    **settings: Unpack[GenerationArgs],
) -> QuestionSet:
    """Write questions on documents, with gold answers and quotes, and keep those that pass all checks.

    The same call resumes an earlier one, however that ended. Calls whose replies are in the journal are not
    repeated. The same seed and replies give the same files. `generate_questions` waits, `agenerate_questions`
    is awaited.

    Args:
        corpus: documents, as for `read_corpus`, or a `Corpus`.
        out: folder of the test set.
        judge: the model that writes the questions, as for `evaluate`.
        per: number of questions for each value of a label of the documents, `{"country": 5}`, or in all.
        checker: the model that checks them. Default: the judge.
        kinds: kinds of questions, or their weights by kind; see `KINDS`.
        styles: styles that the questions take in turn; see `STYLES`. Default: as the judge writes.
        lengths: lengths that the questions take in turn; see `LENGTHS`. Default: as the judge writes.
        personas: people who ask, or texts such as "Ada: a nurse who works at night".
        language: language of the questions. Default: the language of the passages.
        seed: seed of the order of the passages and labels.
        first_hit_share: maximum share of the questions that the first hit of BM25 alone answers, of the
            number that is asked for. Of such questions, the first are kept.
        tries: maximum number of candidates for each question that is asked for.
        leave_out: metrics that are not measured: `question_quality`, so that unclear questions pass, or
            `closed_book_accuracy`, so that the label `known_without_documents` is missing.
        requests: file for the open requests, which are then not made; see `export_wave`.
        prompts: as for `evaluate`.
        cache: path of a journal that several test sets share, instead of the folder's own.
        redact: as for `evaluate`; also applied to the documents.
        traffic: as for `evaluate`.
        budget: limits on all calls of this call, of judge and checker together.
        progress: as for `evaluate`.
        settings: single settings of `traffic` and `budget`, as for `evaluate`.

    Returns:
        The test set. Its questions are fewer than asked for if the candidates or the budget ran out; see
        `QuestionSet.is_complete`, `counts` and `stopped`.

    Raises:
        ConfigError: before any call, if an argument is wrong or the folder holds another test set.
        SampleError: the corpus cannot be read.
        RunStopped: a model refuses every call.
    """
    traffic, budget = limits_of(traffic, budget, settings)
    folder = Path(out)
    documents = corpus if isinstance(corpus, Corpus) else read_corpus(corpus, redact=redact)
    models = SetModels(judge, checker, prompts, redact, asked=requests is None, metrics=_metrics_of(settings))
    bench = await models.bench(folder, cache, traffic, budget, progress)
    chosen = bench.settled(documents, per, settings)
    cells_of(documents, chosen)
    checks = Checks(documents)

    def derive(stored: StoredRecords) -> Derived:
        state = progressed(documents, chosen, checks, stored)
        return Derived(state.decided, state.work, summary_of(state, chosen))

    return await advance(bench, chosen, derive, {CORPUS: corpus_lines(documents)}, requests)


async def advance(
    bench: Bench,
    settings: AnySettings,
    derive: Callable[[StoredRecords], Derived],
    files: Mapping[str, str],
    requests: str | Path | None,
) -> QuestionSet:
    """Measure what is missing until nothing is, and write the test set.

    Args:
        bench: the models.
        settings: settings of the test set.
        derive: derives questions and open samples from the records.
        files: texts of the files that all is derived from, by name.
        requests: file for the open requests, which are then not made.
    """
    folder = bench.folder
    earlier = earlier_set(folder, settings)
    with FolderLock(folder):
        if earlier is None:
            begin_set(folder, files, settings)
        retry = requests is None and not (earlier is not None and earlier.is_complete)
        stored = StoredRecords(folder, retry=retry, metrics=bench.metrics)
        waiting, at, stopped = 0, "", ""
        while (state := derive(stored)).work and not (waiting or stopped):
            for stage, samples in state.work.items():
                if requests is None:
                    run = await bench.measure(stage, samples)
                else:
                    waiting, run = export_wave(
                        samples,
                        requests,
                        out=folder / stage,
                        add=True,
                        cache=bench.cache,
                        **bench.settings(stage),
                    )
                stored.note(stage, run, samples)
                if waiting:
                    at = stage
                    break
                if any(stored.of(stage, sample) is None for sample in samples):
                    stopped = bench.why_open(stage, samples, run)
                    break
        for name, text in files_of(state.summary, state.decided).items():
            put_in_place(folder / name, text)
        made = QuestionSet(folder, waiting=waiting, stage=at, stopped=stopped)
        made.write_reviewed()
    return made


def corpus_lines(corpus: Corpus) -> str:
    """Text of corpus.jsonl."""
    documents = sorted(corpus.documents.values(), key=lambda each: each.id)
    return lines_of(document.model_dump() for document in documents)


@listing_settings(GenerationArgs, GENERATION_DEFAULTS)
async def aplan_questions(
    corpus: CorpusSource | Corpus,
    *,
    judge: AnyJudge,
    per: int | Mapping[str, int],
    out: str | Path | None = None,
    checker: AnyJudge | None = None,
    prompts: Prompts | None = None,
    cache: str | Path | None = None,
    redact: Redact | None = None,
    traffic: Traffic | None = None,
    budget: Budget | None = None,
    **settings: Unpack[GenerationArgs],
) -> "QuestionPlan":
    """Count the calls of `generate_questions` with the same arguments, without a call.

    Models given by name need no key, package or file. `plan_questions` waits, `aplan_questions` is awaited.

    Raises:
        ConfigError: an argument is wrong.
    """
    traffic, budget = limits_of(traffic, budget, settings)
    documents = corpus if isinstance(corpus, Corpus) else read_corpus(corpus, redact=redact)
    folder = Path(out) if out is not None else Path()
    models = SetModels(judge, checker, prompts, redact, asked=False, metrics=_metrics_of(settings))
    bench = await models.bench(folder, cache, traffic, budget)
    chosen = bench.settled(documents, per, settings)
    checks = Checks(documents)
    tasks = Tasks(documents, checks.passages, chosen)
    first = tasks.next_round(())
    usual = [_usual(task, number) for task in first for number in range(task.asked)]
    samples: dict[Stage, list[Sample]] = {"written": [task.sample for task in first]}
    for stage in CHECKS:
        made = (checks.sample(stage, question) for question in usual)
        samples[stage] = [sample for sample in made if sample is not None]
    plans: dict[Stage, Plan] = {
        stage: await aplan(
            samples[stage],
            **bench.settings(stage),
            out=folder / stage if out is not None else None,
            cache=bench.cache if out is not None or cache is not None else None,
            traffic=traffic,
            budget=budget,
        )
        for stage in METRICS
        if samples[stage]
    }
    return QuestionPlan(sum(cell.asked for cell in tasks.cells), len(usual), chosen.tries, plans)


plan_questions = synchronous(aplan_questions)
"""Count the calls of `generate_questions`, and wait; takes the arguments of `aplan_questions`."""

generate_questions = synchronous(agenerate_questions)
"""Write and check questions on documents, and wait; takes the arguments of `agenerate_questions`."""


class QuestionPlan(NamedTuple):
    """Calls and cost of a generation.

    Only the first round is counted: what is written again depends on the checks.

    Attributes:
        asked: number of questions that are asked for.
        candidates: number of candidates of the first round; fewer if there are fewer passages.
        tries: maximum number of candidates for each question.
        stages: calls of each stage, if each candidate of the first round passes all checks.
    """

    asked: int
    candidates: int
    tries: int
    stages: Mapping[Stage, Plan]

    @property
    def calls(self) -> int:
        """Number of calls of the first round."""
        return sum(plan.total.calls for plan in self.stages.values())

    @property
    def most_calls(self) -> int:
        """Number of calls if all tries are needed and each candidate fails in the last check only."""
        return -(-self.calls * self.asked * self.tries // max(self.candidates, 1))

    @property
    def cost(self) -> float | None:
        """Cost of the first round, in the currency of the prices; None if there are no prices."""
        costs = [plan.cost(plan.total) for plan in self.stages.values()]
        known = [cost for cost in costs if cost is not None]
        return sum(known) if len(known) == len(costs) else None


class SetModels(NamedTuple):
    """Judge, checker and prompts of a call, and the metrics of each stage that it measures."""

    judge: AnyJudge
    checker: AnyJudge | None
    prompts: Prompts | None
    redact: Redact | None
    asked: bool
    metrics: Mapping[Stage, tuple[str, ...]] = METRICS

    async def bench(
        self,
        folder: Path,
        cache: str | Path | None,
        traffic: Traffic,
        budget: Budget,
        progress: Callable[[Progress], None] | bool | None = None,
    ) -> Bench:
        """The models, checked before the first call.

        Raises:
            ConfigError: a model is invalid, or cannot write or check questions.
        """
        texts = read_folder(self.prompts) if isinstance(self.prompts, str | Path) else self.prompts or {}
        if wrong := sorted(key for key in texts if key.partition(".")[0] not in library_names()):
            raise ConfigError(f"there is no prompt {wrong[0]!r}; see the prompts of {', '.join(_NAMES)}")
        judge = as_judge(self.judge, asked=self.asked)
        checker = judge if self.checker is None else as_judge(self.checker, asked=self.asked)
        judges: dict[Stage, Judge] = {stage: judge if stage == "written" else checker for stage in METRICS}
        for stage, names in self.metrics.items():
            model = judges[stage]
            if not getattr(model, "cacheable", True):
                raise ConfigError(f"a test set could not be resumed: {model.identity} {WITHOUT_IDENTITY}")
            try:
                await prepare((), metrics=resolve(names), judge=model, asked=self.asked)
            except ConfigError as error:
                needed = [name for name in names if name not in OPTIONAL]
                if len(needed) < len(names):
                    # the error stands unless the model can measure all that cannot be left out
                    await prepare((), metrics=resolve(needed), judge=model, asked=self.asked)
                    raise ConfigError(
                        f"the model {model.identity} cannot measure {' and '.join(OPTIONAL)}: use another "
                        "checker, or leave them out (leave_out, on the command line --leave-out)"
                    ) from error
                raise
        return Bench(
            folder,
            self.metrics,
            judges,
            {stage: price_of((model,), budget.prices) for stage, model in judges.items()},
            texts,
            Path(cache) if cache is not None else folder / "journal.sqlite",
            traffic,
            budget,
            self.redact,
            progress,
        )


def limits_of(
    traffic: Traffic | None, budget: Budget | None, settings: Mapping[str, Any]
) -> tuple[Traffic, Budget]:
    """The settings of a call: objects, overridden by keywords."""
    refuse_unknown(settings, *GENERATION_DEFAULTS)
    return (traffic or Traffic()).replacing(**_part(settings, TrafficArgs)), (budget or Budget()).replacing(
        **_part(settings, BudgetArgs)
    )


def _metrics_of(settings: GenerationArgs) -> dict[Stage, tuple[str, ...]]:
    """The metrics of all stages, without those that a call leaves out."""
    return metrics_without(left_out_of(settings.get("leave_out", ())))


def _part(settings: Mapping[str, Any], kind: type) -> Any:
    """The settings with the keys of a typed dictionary."""
    return {name: settings[name] for name in names_in(kind) if name in settings}


def earlier_set(folder: Path, settings: AnySettings) -> SetSummary | None:
    """The test set that is resumed; None if the folder holds none.

    Raises:
        ConfigError: it has other settings; the message lists them.
    """
    if not (folder / TEST_SET).is_file():
        return None
    summary = summary_in(folder)
    if differences := list(summary.settings.differences(settings)):
        raise ConfigError(
            f"{folder} holds a test set with other settings ({'; '.join(differences)}): use those, or choose "
            "another folder"
        )
    return summary


def begin_set(folder: Path, files: Mapping[str, str], settings: AnySettings) -> None:
    """Write the files and settings; test_set.json comes last, so that it means that all are there."""
    for name, text in files.items():
        put_in_place(folder / name, text)
    put_in_place(folder / TEST_SET, summary_text(SetSummary(settings=settings)))


def _usual(task: Task, number: int) -> Question:
    """A question that stands in for a written one in a plan: the beginning of its passages."""
    quotes: list[Quote] = []
    for passage in task.passages:
        words = list(islice(re.finditer(r"\S+", passage.text), _USUAL_QUOTE))
        end = passage.start + words[-1].end()
        text = passage.text[: words[-1].end()]
        quotes.append(Quote(document=passage.document, start=passage.start, end=end, text=text))
    text = quotes[0].text
    return Question(
        id=f"{task.sample.id}-{number}", question=text, answer=text, kind=task.cell.kind, quotes=tuple(quotes)
    )
