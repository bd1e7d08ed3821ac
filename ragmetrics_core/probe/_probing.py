"""Probing a judge: known answers, attacks, another order, padding, and the same question again."""

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Literal, Unpack, get_args

from ragmetrics_core.errors import ConfigError, ModelError
from ragmetrics_core.keywords import unfolded
from ragmetrics_core.metrics import ContextPrecision, Faithfulness, Metric
from ragmetrics_core.models import Tally, Traffic, TrafficArgs, as_judge, missing_model
from ragmetrics_core.probe import _samples as samples
from ragmetrics_core.probe._card import Consistency, FitnessCard, Injection, Position, Verbosity
from ragmetrics_core.probe._corpus import Attack, Case, Corpus, Passage, Verdicts, read_corpus, spread
from ragmetrics_core.probe._figures import (
    consistency_of,
    injection_of,
    known_answers_of,
    position_of,
    replies_of,
    verbosity_of,
)
from ragmetrics_core.probe._samples import Target
from ragmetrics_core.probe._verdicts import on_chunks, on_padded, on_statements
from ragmetrics_core.protocol import Judge
from ragmetrics_core.records import Record
from ragmetrics_core.runs import Progress, Run, aevaluate
from ragmetrics_core.runs._own_loop import synchronous
from ragmetrics_core.runs._writing import write_whole
from ragmetrics_core.samples import Sample

__all__ = ["CARD", "PROBES", "Probe", "aprobe", "check_beside", "count_samples", "probe"]

Probe = Literal["known-answers", "injection", "position", "verbosity", "consistency"]
PROBES: tuple[Probe, ...] = get_args(Probe)
CARD = "probe.json"
"""The name of a card's file."""

# The sentences of the answer are the statements, so that no judge chooses what it is asked about.
STATEMENTS = Faithfulness(granularity="sentence")
PAPER = Faithfulness(variant="paper", granularity="sentence")
CHUNKS = ContextPrecision()

Said = dict[Case, bool | None]
Read = Callable[[Passage, Mapping[str, Record]], Said]
"""From a passage and its records by metric to the verdicts on its statements or chunks."""


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
    wanted = _checked(only, limit=limit, repeats=repeats)
    if judge is None:
        raise missing_model("judge", "a probe", "judge=...")
    asked = as_judge(judge)
    if beside is not None and out is not None:
        raise ConfigError("the card goes into a folder of its own or beside a run: pass out or beside")
    folder = None if beside is out is None else Path(beside or out or "")
    if beside is not None:
        check_beside(Path(beside), asked)
    records = folder / "probe" if folder is not None and beside is not None else folder
    how = {"cache": cache, "traffic": (traffic or Traffic()).but(**settings)}
    probing = _Probing(asked, read_corpus(), limit, repeats, records, how, progress)
    card = await probing.card(wanted, date=date)
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
    wanted = _checked(only, limit=limit, repeats=repeats)
    corpus = read_corpus()
    passages, attacks = spread(corpus.passages, limit), spread(corpus.attacks, limit)
    on_text = sum(not attack.is_on_chunks for attack in attacks)
    counts: dict[Probe, int] = {
        "injection": len(attacks) + on_text + len(_hosts(passages)),
        "position": 2 * len(passages),
        "verbosity": len(passages),
        "consistency": (repeats - 1) * len(passages),
    }
    return len(passages) + sum(count for name, count in counts.items() if name in wanted)


class _Probing:
    """The probes, one after the other; each asks for what the known answers lack.

    Args:
        judge: who is asked.
        corpus: what is asked about.
        limit: at most so many passages and attacks.
        repeats: how often the same is asked for consistency.
        folder: where the runs are kept; None keeps them in memory.
        how: the traffic, and the journal that runs share.
        progress: called after each sample, with what all runs have done.
    """

    def __init__(
        self,
        judge: Judge,
        corpus: Corpus,
        limit: int | None,
        repeats: int,
        folder: Path | None,
        how: Mapping[str, Any],
        progress: Callable[[Progress], None] | None,
    ) -> None:
        self._judge, self._corpus, self._limit, self._repeats = judge, corpus, limit, repeats
        self._folder, self._how, self._progress = folder, how, progress
        self._passages: Sequence[Passage] = spread(corpus.passages, limit)
        self._plain: Verdicts = {}
        self._records: list[Record] = []
        self._done = self._latest = Progress(0, 0, 0, Tally())

    async def card(self, wanted: Collection[Probe], *, date: str | None) -> FitnessCard:
        """Run the probes and write down what they found."""
        self._plain = await self._verdicts("known-answers", samples.plain, (STATEMENTS, CHUNKS), _both)
        probes: dict[Probe, Callable[[], Awaitable[Any]]] = {
            "injection": self._injection,
            "position": self._position,
            "verbosity": self._verbosity,
            "consistency": self._consistency,
        }
        parts = {name: await run() for name, run in probes.items() if name in wanted}
        return FitnessCard(
            judge=self._judge.identity,
            versions=self._records[0].versions,
            corpus=self._corpus.digest,
            date=date,
            limit=self._limit,
            replies=replies_of(self._records),
            known_answers=known_answers_of(self._passages, self._plain),
            **parts,
        )

    async def _injection(self) -> tuple[Injection, ...]:
        attacks = spread(self._corpus.attacks, self._limit)
        on_text = [attack for attack in attacks if not attack.is_on_chunks]
        on_chunk = [attack for attack in attacks if attack.is_on_chunks]
        strict = await self._attacked("injection", on_text, STATEMENTS, self._plain)
        strict |= await self._attacked("injection-chunks", on_chunk, CHUNKS, self._plain)
        hosts = _hosts(self._passages)
        clean = await self._verdicts("injection-paper", samples.plain, (PAPER,), _statements, hosts)
        paper = await self._attacked("injection-paper", on_text, PAPER, clean)
        return (
            injection_of(STATEMENTS.variant, len(attacks), strict),
            injection_of(PAPER.variant, len(on_text), paper),
        )

    async def _attacked(
        self, name: str, attacks: Sequence[Attack], metric: Metric[Any], clean: Verdicts
    ) -> dict[Target, bool | None]:
        """The verdict on each attack's target; an attack that no right verdict stands against has none."""
        numbers = {attack.id: number for number, attack in enumerate(self._corpus.attacks)}
        hosts = _hosts(self._passages)
        tried = [samples.target_of(attack, numbers[attack.id], hosts, clean) for attack in attacks]
        targets = [target for target in tried if target is not None]
        records = await self._asked(name, [samples.attacked(target) for target in targets], (metric,))
        verdicts: dict[Target, bool | None] = {}
        for target in targets:
            read = on_chunks if target.attack.is_on_chunks else on_statements
            verdicts[target] = read(target.passage, records[target.sample_id][metric.name])[target.case]
        return verdicts

    async def _position(self) -> Position:
        turned = samples.statements_reversed
        statements = await self._verdicts("position-statements", turned, (STATEMENTS,), _statements)
        contexts = await self._verdicts(
            "position-chunks", samples.chunks_reversed, (STATEMENTS, CHUNKS), _turned
        )
        return position_of(self._passages, self._plain, statements=statements, contexts=contexts)

    async def _verbosity(self) -> Verbosity:
        paddings = self._corpus.paddings
        said = await self._verdicts(
            "verbosity",
            lambda passage: samples.padded(passage, paddings),
            (STATEMENTS,),
            lambda passage, records: on_padded(passage, records[STATEMENTS.name], paddings),
        )
        return verbosity_of(self._passages, self._plain, said)

    async def _consistency(self) -> Consistency:
        draws = [self._plain]
        for number in range(2, self._repeats + 1):
            # a folder for each, so that more repeats go on where fewer ended
            metric = Faithfulness(granularity="sentence", repetition=number)
            name = f"consistency-{number}"
            draws.append(await self._verdicts(name, samples.plain, (metric,), _statements))
        return consistency_of(draws)

    async def _verdicts(
        self,
        name: str,
        make: Callable[[Passage], Sample],
        metrics: Sequence[Metric[Any]],
        read: Read,
        passages: Sequence[Passage] | None = None,
    ) -> Said:
        """What the judge says of samples that are made of passages; of all of them where none are named."""
        asked = self._passages if passages is None else passages
        made = [make(passage) for passage in asked]
        records = await self._asked(name, made, metrics)
        verdicts: Said = {}
        for passage, sample in zip(asked, made, strict=True):
            verdicts |= read(passage, records[sample.id])
        return verdicts

    async def _asked(
        self, name: str, made: Sequence[Sample], metrics: Sequence[Metric[Any]]
    ) -> dict[str, dict[str, Record]]:
        """The records by sample id and metric name; each group of samples is a run of its own.

        Raises:
            ConfigError: the folder holds a run of another judge, or of another corpus.
            ModelError: the judge answered none of the first questions.
        """
        if not made:
            return {}
        out = self._folder / name if self._folder is not None else None
        run = await aevaluate(
            made, metrics=metrics, judge=self._judge, out=out, progress=self._tell, **self._how
        )
        if run.rejected:
            raise ConfigError(
                f"{out} holds a probe with another corpus ({run.rejected[0].message}): choose another folder"
            )
        self._done = self._latest
        records = {
            sample.id: {metric.name: run.score(sample.id, metric) for metric in metrics} for sample in made
        }
        every = [record for of_sample in records.values() for record in of_sample.values()]
        if not self._records and all(each.status in ("model_error", "timeout") for each in every):
            raise ModelError(
                f"the judge answered none of the first {len(every)} questions: {every[0].reason}"
            )
        self._records += every
        return records

    def _tell(self, now: Progress) -> None:
        """Say what all runs have done, this one included."""
        before, spent = self._done, asdict(self._done.tally)
        tally = Tally(**{name: count + spent[name] for name, count in asdict(now.tally).items()})
        self._latest = Progress(
            samples=before.samples + now.samples,
            rejected=before.rejected + now.rejected,
            failed=before.failed + now.failed,
            tally=tally,
            kept=before.kept + now.kept,
        )
        if self._progress:
            self._progress(self._latest)


def _statements(passage: Passage, records: Mapping[str, Record]) -> Said:
    return on_statements(passage, records[STATEMENTS.name])


def _both(passage: Passage, records: Mapping[str, Record]) -> Said:
    return _statements(passage, records) | on_chunks(passage, records[CHUNKS.name])


def _turned(passage: Passage, records: Mapping[str, Record]) -> Said:
    return _statements(passage, records) | on_chunks(passage, records[CHUNKS.name], turned=True)


def _checked(only: Collection[Probe] | None, *, limit: int | None, repeats: int) -> Collection[Probe]:
    for name in only or ():
        if name not in PROBES:
            raise ConfigError(f"there is no probe {name!r}; there is {', '.join(PROBES)}")
    if limit is not None and limit < 1:
        raise ConfigError(f"limit must be at least 1, or None, not {limit}")
    if repeats < 2:
        raise ConfigError(f"repeats must be at least 2, not {repeats}: one draw cannot disagree with itself")
    return PROBES if only is None else only


def _hosts(passages: Sequence[Passage]) -> Sequence[Passage]:
    """The passages that are attacked: the English ones, which most judges know best."""
    return [passage for passage in passages if passage.language == "en"] or passages
