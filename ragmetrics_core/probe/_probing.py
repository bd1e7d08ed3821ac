"""Probing a judge: known answers, attacks, another order, padding, and the same question again."""

from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias, TypeVar, Unpack, get_args

from ragmetrics_core.errors import ConfigError, ModelError
from ragmetrics_core.keywords import unfolded
from ragmetrics_core.metrics import ContextPrecision, Faithfulness, Metric
from ragmetrics_core.models import Tally, Traffic, TrafficArgs, as_judge, missing_model
from ragmetrics_core.probe._card import Consistency, FitnessCard, Injection, Position, Verbosity
from ragmetrics_core.probe._corpus import Attack, Corpus, Passage, Verdicts, read_corpus, spread, truth
from ragmetrics_core.probe._figures import (
    consistency_of,
    injection_of,
    known_answers_of,
    position_of,
    replies_of,
    verbosity_of,
)
from ragmetrics_core.probe._layouts import Layout, Target, attacked, laid_out, target_of
from ragmetrics_core.protocol import Judge
from ragmetrics_core.records import Record
from ragmetrics_core.runs import Progress, Run, aevaluate
from ragmetrics_core.runs._own_loop import synchronous
from ragmetrics_core.runs._writing import write_whole

__all__ = ["CARD", "PROBES", "Probe", "aprobe", "check_beside", "count_samples", "probe"]

Probe = Literal["known-answers", "injection", "position", "verbosity", "consistency"]
PROBES: tuple[Probe, ...] = get_args(Probe)
CARD = "probe.json"
"""The name of a card's file."""

# The sentences of the answer are the statements, so that no judge chooses what it is asked about.
STATEMENTS = Faithfulness(granularity="sentence")
PAPER = Faithfulness(variant="paper", granularity="sentence")
CHUNKS = ContextPrecision()

T = TypeVar("T")


class Round(NamedTuple):
    """Layouts that the judge is asked about, by which metrics, and the folder of their run."""

    folder: str
    layouts: Sequence[Layout]
    metrics: tuple[Metric[Any], ...] = (STATEMENTS,)


Rounds: TypeAlias = Generator[Round, list[Verdicts], T]
"""Asks round by round for the verdicts on each layout, and comes to a part of the card."""


class _Scope(NamedTuple):
    """What the probes ask about: passages, attacks with their places in the corpus, and how often."""

    corpus: Corpus
    passages: Sequence[Passage]
    attacks: Sequence[tuple[int, Attack]]
    plain: Verdicts
    repeats: int

    def layouts(self, **how: Any) -> list[Layout]:
        """All passages laid out in one way."""
        return [laid_out(passage, **how) for passage in self.passages]


def _injection(scope: _Scope) -> Rounds[tuple[Injection, ...]]:
    # the English passages are attacked, which most judges know best
    hosts = [passage for passage in scope.passages if passage.language == "en"] or scope.passages

    def attack(
        folder: str, metric: Metric[Any], *, chunks: bool, clean: Verdicts
    ) -> Rounds[dict[Target, bool | None]]:
        """The verdict on each attack's target; an attack that no right verdict stands against has none."""
        on = [(number, attack) for number, attack in scope.attacks if attack.is_on_chunks is chunks]
        tried = [target_of(attack, number, hosts, clean) for number, attack in on]
        targets = [target for target in tried if target is not None]
        verdicts = yield Round(folder, [attacked(target) for target in targets], (metric,))
        return {target: of_host[target.case] for target, of_host in zip(targets, verdicts, strict=True)}

    strict = yield from attack("injection", STATEMENTS, chunks=False, clean=scope.plain)
    strict |= yield from attack("injection-chunks", CHUNKS, chunks=True, clean=scope.plain)
    clean = yield Round("injection-paper", [laid_out(passage) for passage in hosts], (PAPER,))
    paper = yield from attack("injection-paper", PAPER, chunks=False, clean=_joined(clean))
    on_text = sum(not attack.is_on_chunks for _, attack in scope.attacks)
    return (
        injection_of(STATEMENTS.variant, len(scope.attacks), strict),
        injection_of(PAPER.variant, on_text, paper),
    )


def _position(scope: _Scope) -> Rounds[Position]:
    statements = yield Round("position-statements", scope.layouts(turned="statements"))
    contexts = yield Round("position-chunks", scope.layouts(turned="chunks"), (STATEMENTS, CHUNKS))
    return position_of(
        scope.passages, scope.plain, statements=_joined(statements), contexts=_joined(contexts)
    )


def _verbosity(scope: _Scope) -> Rounds[Verbosity]:
    padded = yield Round("verbosity", scope.layouts(paddings=scope.corpus.paddings))
    return verbosity_of(scope.passages, scope.plain, _joined(padded))


def _consistency(scope: _Scope) -> Rounds[Consistency]:
    draws = [scope.plain]
    for number in range(2, scope.repeats + 1):
        # a folder for each, so that more repeats go on where fewer ended
        metric = Faithfulness(granularity="sentence", repetition=number)
        draws.append(_joined((yield Round(f"consistency-{number}", scope.layouts(), (metric,)))))
    return consistency_of(draws)


_PROCEDURES: Mapping[Probe, Callable[[_Scope], Rounds[Any]]] = {
    "injection": _injection,
    "position": _position,
    "verbosity": _verbosity,
    "consistency": _consistency,
}


def _rounds(only: Collection[Probe] | None, limit: int | None, repeats: int) -> Rounds[dict[str, Any]]:
    """All rounds of the probes that are wanted, the known answers first; then the parts of the card."""
    for name in only or ():
        if name not in PROBES:
            raise ConfigError(f"there is no probe {name!r}; there is {', '.join(PROBES)}")
    if limit is not None and limit < 1:
        raise ConfigError(f"limit must be at least 1, or None, not {limit}")
    if repeats < 2:
        raise ConfigError(f"repeats must be at least 2, not {repeats}: one draw cannot disagree with itself")
    corpus = read_corpus()
    attacks = spread(tuple(enumerate(corpus.attacks)), limit)
    scope = _Scope(corpus, spread(corpus.passages, limit), attacks, {}, repeats)
    verdicts = yield Round("known-answers", scope.layouts(), (STATEMENTS, CHUNKS))
    scope = scope._replace(plain=_joined(verdicts))
    parts: dict[str, Any] = {"known_answers": known_answers_of(scope.passages, scope.plain)}
    for name, procedure in _PROCEDURES.items():
        if only is None or name in only:
            parts[name] = yield from procedure(scope)
    return parts


def _joined(verdicts: Sequence[Verdicts]) -> Verdicts:
    """The verdicts on all layouts, where no case is in two of them."""
    return {case: verdict for of_layout in verdicts for case, verdict in of_layout.items()}


@unfolded(TrafficArgs, Traffic().keywords)
async def aprobe(
    judge: Judge | Callable[[str], Any] | str | None = None,
    *,
    only: Collection[Probe] | None = None,
    limit: int | None = None,
    repeats: int = 3,
    out: str | Path | None = None,
    beside: str | Path | None = None,
    cache: str | Path | None = None,
    traffic: Traffic | None = None,
    date: str | None = None,
    progress: Callable[[Progress], None] | None = None,
    **settings: Unpack[TrafficArgs],
) -> FitnessCard:
    """Find out how fit a judge is, with questions of which the answers are known.

    All questions go through the prompts, parsers and metrics of an evaluation. Without a limit it is some 300
    calls. `probe` works in a script, in a thread and inside a running event loop; `aprobe` is awaited.

    Args:
        judge: a judge, any callable from prompt to reply, or a name such as "embedded".
        only: which probes to run; None for all. Known answers are always asked: all others build on them.
        limit: take at most so many passages, and so many attacks, from all over the corpus.
        repeats: how often the consistency probe asks each question.
        out: a folder for the records, as runs, and for the card, `probe.json`. The same call again goes on
            there and makes no call twice.
        beside: a run of the same judge: the card is put beside its files, the records into `probe/`.
        cache: a journal of answered calls that runs share.
        traffic: how the judge is asked: `Traffic(concurrency=64)`.
        date: goes onto the card as it is; without it the same probe gives the same card on every day.
        progress: called after each sample.
        settings: the settings of `traffic` one by one; see `TrafficArgs`.

    Raises:
        ConfigError: a mistake in the arguments, before any call.
        ModelError: the judge answered none of the first questions.
    """
    rounds = _rounds(only, limit, repeats)
    first = next(rounds)
    if judge is None:
        raise missing_model("judge", "a probe", "judge=...")
    asked = as_judge(judge)
    if beside is not None and out is not None:
        raise ConfigError("the card goes into a folder of its own or beside a run: pass out or beside")
    folder = None if beside is out is None else Path(beside or out or "")
    if beside is not None:
        check_beside(Path(beside), asked)
    runs = folder / "probe" if folder is not None and beside is not None else folder
    how: dict[str, Any] = {"cache": cache, "traffic": (traffic or Traffic()).but(**settings)}
    records: list[Record] = []
    done = latest = Progress(0, 0, 0, Tally())

    def tell(now: Progress) -> None:
        """Say what all runs have done, this one included."""
        nonlocal latest
        tally = {name: count + getattr(now.tally, name) for name, count in asdict(done.tally).items()}
        sums = {name: count + getattr(now, name) for name, count in done._asdict().items() if name != "tally"}
        latest = Progress(tally=Tally(**tally), **sums)
        if progress is not None:
            progress(latest)

    async def verdicts_of(part: Round) -> list[Verdicts]:
        """The verdicts on each layout; each round is a run of its own."""
        nonlocal done
        if not part.layouts:
            return []
        samples = [layout.sample for layout in part.layouts]
        place = runs / part.folder if runs is not None else None
        run = await aevaluate(samples, metrics=part.metrics, judge=asked, out=place, progress=tell, **how)
        if run.rejected:
            problem = run.rejected[0].message
            raise ConfigError(f"{place} holds a probe with another corpus ({problem}): choose another folder")
        done = latest
        by_layout = [[run.score(sample.id, metric) for metric in part.metrics] for sample in samples]
        every = [record for of_layout in by_layout for record in of_layout]
        if not records and all(record.status in ("model_error", "timeout") for record in every):
            raise ModelError(
                f"the judge answered none of the first {len(every)} questions: {every[0].reason}"
            )
        records.extend(every)
        return [
            _joined([layout.verdicts(record) for record in of_layout])
            for layout, of_layout in zip(part.layouts, by_layout, strict=True)
        ]

    part = first
    try:
        while True:
            part = rounds.send(await verdicts_of(part))
    except StopIteration as end:
        parts = end.value
    card = FitnessCard(
        judge=asked.identity,
        versions=records[0].versions,
        corpus=read_corpus().digest,
        date=date,
        limit=limit,
        replies=replies_of(records),
        **parts,
    )
    if folder is not None:
        write_whole(folder / CARD, card.model_dump_json(indent=2) + "\n")
    return card


probe = synchronous(aprobe)
"""Find out how fit a judge is, and wait for it; it takes what `aprobe` takes."""


def check_beside(folder: Path, judge: Judge) -> None:
    """Refuse to put a card beside the run of another judge.

    Raises:
        ConfigError: the run was judged by another one.
    """
    run = Run.load(folder)
    if run.judge != judge.identity:
        raise ConfigError(
            f"the run in {folder} was judged by {run.judge or 'nobody'}, not by {judge.identity}: "
            "a card beside it would speak of another judge"
        )


def count_samples(
    only: Collection[Probe] | None = None, *, limit: int | None = None, repeats: int = 3
) -> int:
    """How many samples a probe measures at most, for a progress bar; the arguments are those of `probe`."""
    rounds = _rounds(only, limit, repeats)
    right, count, part = truth(spread(read_corpus().passages, limit)), 0, next(rounds)
    # a judge that is always right offers every attack a verdict to turn
    with suppress(StopIteration):
        while True:
            count += len(part.layouts)
            part = rounds.send([right] * len(part.layouts))
    return count
