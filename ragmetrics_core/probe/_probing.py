"""Probing a judge: known answers, attacks, another order, padding, and the same question again."""

from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple, Unpack, get_args

from ragmetrics_core.errors import ConfigError, ModelError
from ragmetrics_core.keywords import unfolded
from ragmetrics_core.metrics import ContextPrecision, Faithfulness, Metric
from ragmetrics_core.models import Traffic, TrafficArgs, as_judge, missing_model
from ragmetrics_core.probe import _samples as samples
from ragmetrics_core.probe._asking import Asker
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
from ragmetrics_core.runs import Progress, Run
from ragmetrics_core.runs._own_loop import synchronous
from ragmetrics_core.runs._writing import write_whole

__all__ = ["CARD", "PROBES", "Probe", "aprobe", "count_samples", "probe"]

Probe = Literal["known-answers", "injection", "position", "verbosity", "consistency"]
PROBES: tuple[Probe, ...] = get_args(Probe)
CARD = "probe.json"
"""The name of a card's file."""

# The sentences of the answer are the statements, so that no judge chooses what it is asked about.
STATEMENTS = Faithfulness(granularity="sentence")
PAPER = Faithfulness(variant="paper", granularity="sentence")
CHUNKS = ContextPrecision()

FAITHFULNESS, PRECISION = STATEMENTS.name, CHUNKS.name


class _Places(NamedTuple):
    """Where records and card go; None for nowhere."""

    records: Path | None
    card: Path | None


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
    traffic = (traffic or Traffic()).but(**settings)
    wanted = _checked(only, limit=limit, repeats=repeats)
    if judge is None:
        raise missing_model("judge", "a probe", "judge=...")
    asked = as_judge(judge)
    places = _places(asked, out, beside)
    asker = Asker(asked, places.records, traffic, cache, progress)
    probing = _Probing(asker, read_corpus(), limit)
    card = await probing.card(wanted, repeats=repeats, date=date)
    if places.card is not None:
        write_whole(places.card, card.model_dump_json(indent=2) + "\n")
    return card


probe = synchronous(aprobe)
"""Find out how fit a judge is, and wait for it; it takes what `aprobe` takes."""


def count_samples(
    only: Collection[Probe] | None = None, *, limit: int | None = None, repeats: int = 3
) -> int:
    """How many samples a probe measures at most, for a progress bar; the arguments are those of `probe`."""
    wanted = _checked(only, limit=limit, repeats=repeats)
    corpus = read_corpus()
    passages, attacks = spread(corpus.passages, limit), spread(corpus.attacks, limit)
    each = {
        "injection": len(attacks)
        + sum(not attack.is_on_chunks for attack in attacks)
        + len(_hosts(passages)),
        "position": 2 * len(passages),
        "verbosity": len(passages),
        "consistency": (repeats - 1) * len(passages),
    }
    return len(passages) + sum(count for name, count in each.items() if name in wanted)


class _Probing:
    """The probes, one after the other; each asks for what the known answers lack.

    Args:
        asker: asks the judge.
        corpus: what is asked about.
        limit: at most so many passages and attacks.
    """

    def __init__(self, asker: Asker, corpus: Corpus, limit: int | None) -> None:
        self._ask = asker.ask
        self._asker = asker
        self._corpus = corpus
        self._limit = limit
        self._passages: Sequence[Passage] = spread(corpus.passages, limit)
        self._plain: Verdicts = {}

    async def card(self, wanted: Collection[Probe], *, repeats: int, date: str | None) -> FitnessCard:
        """Run the probes and write down what they found."""
        self._plain = await self._known_answers()
        injection = await self._injection() if "injection" in wanted else None
        position = await self._position() if "position" in wanted else None
        verbosity = await self._verbosity() if "verbosity" in wanted else None
        consistency = await self._consistency(repeats) if "consistency" in wanted else None
        records = self._asker.records
        return FitnessCard(
            judge=self._asker.judge.identity,
            versions=records[0].versions,
            corpus=self._corpus.digest,
            date=date,
            limit=self._limit,
            replies=replies_of(records),
            known_answers=known_answers_of(self._passages, self._plain),
            injection=injection,
            position=position,
            verbosity=verbosity,
            consistency=consistency,
        )

    async def _known_answers(self) -> Verdicts:
        found = await self._ask("known-answers", list(map(samples.plain, self._passages)), STATEMENTS, CHUNKS)
        failed = [each for each in found.values() if each.status in ("model_error", "timeout")]
        if len(failed) == len(found):
            raise ModelError(
                f"the judge answered none of the first {len(failed)} questions: {failed[0].reason}"
            )
        said: dict[Case, bool | None] = {}
        for passage in self._passages:
            said |= on_statements(passage, found[passage.id, FAITHFULNESS])
            said |= on_chunks(passage, found[passage.id, PRECISION])
        return said

    async def _injection(self) -> tuple[Injection, ...]:
        attacks = spread(self._corpus.attacks, self._limit)
        on_text = [attack for attack in attacks if not attack.is_on_chunks]
        on_chunk = [attack for attack in attacks if attack.is_on_chunks]
        strict = await self._attacked("injection", on_text, STATEMENTS, self._plain)
        strict |= await self._attacked("injection-chunks", on_chunk, CHUNKS, self._plain)
        hosts = _hosts(self._passages)
        found = await self._ask("injection-paper", list(map(samples.plain, hosts)), PAPER)
        clean: dict[Case, bool | None] = {}
        for passage in hosts:
            clean |= on_statements(passage, found[passage.id, FAITHFULNESS])
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
        found = await self._ask(name, list(map(samples.attacked, targets)), metric)
        said: dict[Target, bool | None] = {}
        for target in targets:
            read = on_chunks if target.attack.is_on_chunks else on_statements
            said[target] = read(target.passage, found[target.sample_id, metric.name])[target.case]
        return said

    async def _position(self) -> Position:
        turned = [samples.statements_reversed(passage) for passage in self._passages]
        found = await self._ask("position-statements", turned, STATEMENTS)
        statements: dict[Case, bool | None] = {}
        for passage, sample in zip(self._passages, turned, strict=True):
            statements |= on_statements(passage, found[sample.id, FAITHFULNESS])
        turned = [samples.chunks_reversed(passage) for passage in self._passages]
        found = await self._ask("position-chunks", turned, STATEMENTS, CHUNKS)
        contexts: dict[Case, bool | None] = {}
        for passage, sample in zip(self._passages, turned, strict=True):
            contexts |= on_statements(passage, found[sample.id, FAITHFULNESS])
            contexts |= on_chunks(passage, found[sample.id, PRECISION], turned=True)
        return position_of(self._passages, self._plain, statements=statements, contexts=contexts)

    async def _verbosity(self) -> Verbosity:
        paddings = self._corpus.paddings
        padded = [samples.padded(passage, paddings) for passage in self._passages]
        found = await self._ask("verbosity", padded, STATEMENTS)
        said: dict[Case, bool | None] = {}
        for passage, sample in zip(self._passages, padded, strict=True):
            said |= on_padded(passage, found[sample.id, FAITHFULNESS], paddings)
        return verbosity_of(self._passages, self._plain, said)

    async def _consistency(self, repeats: int) -> Consistency:
        draws = [self._plain]
        for number in range(2, repeats + 1):
            # a folder for each, so that more repeats go on where fewer ended
            metric = Faithfulness(granularity="sentence", repetition=number)
            plain = list(map(samples.plain, self._passages))
            found = await self._ask(f"consistency-{number}", plain, metric)
            said: dict[Case, bool | None] = {}
            for passage in self._passages:
                said |= on_statements(passage, found[passage.id, FAITHFULNESS])
            draws.append(said)
        return consistency_of(draws)


def _checked(only: Collection[Probe] | None, *, limit: int | None, repeats: int) -> Collection[Probe]:
    for name in only or ():
        if name not in PROBES:
            raise ConfigError(f"there is no probe {name!r}; there is {', '.join(PROBES)}")
    if limit is not None and limit < 1:
        raise ConfigError(f"limit must be at least 1, or None, not {limit}")
    if repeats < 2:
        raise ConfigError(f"repeats must be at least 2, not {repeats}: one draw cannot disagree with itself")
    return PROBES if only is None else only


def _places(judge: Judge, out: str | Path | None, beside: str | Path | None) -> _Places:
    if beside is None:
        out = Path(out) if out is not None else None
        return _Places(out, out / CARD if out is not None else None)
    if out is not None:
        raise ConfigError("the card goes into a folder of its own or beside a run: pass out or beside")
    beside = Path(beside)
    run = Run.load(beside)
    if run.judge != judge.identity:
        raise ConfigError(
            f"the run in {beside} was judged by {run.judge or 'nobody'}, not by {judge.identity}: "
            "a card beside it would speak of another judge"
        )
    return _Places(beside / "probe", beside / CARD)


def _hosts(passages: Sequence[Passage]) -> Sequence[Passage]:
    """The passages that are attacked: the English ones, which most judges know best."""
    return [passage for passage in passages if passage.language == "en"] or passages
