"""Probe a judge: known answers, attacks, changed order, padding, and repeated questions."""

from collections import Counter
from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from contextlib import suppress
from dataclasses import astuple
from operator import add
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias, TypeVar, Unpack, get_args

from ragmetrics_core.adapting import synchronous
from ragmetrics_core.boundary.keywords import listing_settings
from ragmetrics_core.boundary.writing import write_whole
from ragmetrics_core.errors import ConfigError, ModelError
from ragmetrics_core.metrics import ContextPrecision, Faithfulness, Metric
from ragmetrics_core.models import Tally, Traffic, TrafficArgs, as_judge, missing_model
from ragmetrics_core.models.identity import known_as, unlike
from ragmetrics_core.probe._card import Consistency, FitnessCard, Injection, Position, ShareOf, Verbosity
from ragmetrics_core.probe._corpus import Attack, Case, KnownPassage, Verdicts, read_corpus, spread, truth
from ragmetrics_core.probe._figures import (
    NO_PAIR,
    NO_VERDICT,
    in_both,
    injection_of,
    known_answers_of,
    replies_of,
    share_of,
)
from ragmetrics_core.probe._layouts import Layout, Target, attacked, laid_out, target_of
from ragmetrics_core.protocol import Judge
from ragmetrics_core.records import Record
from ragmetrics_core.runs import Progress, Run, aevaluate

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
    """Passages, attacks with their places in the corpus, and number of repeats.

    Attributes:
        passages: the passages.
        attacks: the attacks.
        repeats: number of times to ask the same.
        plain: verdicts on the unchanged passages.
        truth: correct verdicts.
    """

    passages: Sequence[KnownPassage]
    attacks: Sequence[tuple[int, Attack]]
    repeats: int
    plain: Verdicts
    truth: Mapping[Case, bool]

    def layouts(self, **how: Any) -> list[Layout]:
        """All passages laid out in one way."""
        return [laid_out(passage, **how) for passage in self.passages]


def _injection(scope: _Scope) -> Rounds[tuple[Injection, ...]]:
    """Effect of attacks on verdicts that are right without them."""
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
    """Share of verdicts that change with the order."""
    plain, lengths = scope.plain, Counter((case.passage, case.is_chunk) for case in scope.truth)
    statements = _joined((yield Round("position-statements", scope.layouts(turned="statements"))))
    turned = yield Round("position-chunks", scope.layouts(turned="chunks"), (STATEMENTS, CHUNKS))
    own, chunks = (
        {case: verdict for case, verdict in _joined(turned).items() if case.is_chunk is on_chunks}
        for on_chunks in (False, True)
    )

    def changed(after: Verdicts) -> ShareOf:
        return share_of((plain[case] != after[case] for case in in_both(plain, after)), NO_PAIR)

    # how far a case stands before the middle, where it is not moved
    before = {case: lengths[case.passage, case.is_chunk] - 1 - 2 * case.place for case in plain}
    moved = {**statements, **chunks}
    turns = [case for case in in_both(plain, moved) if before[case] and plain[case] != moved[case]]
    return Position(
        statements=changed(statements),
        contexts=changed(own),
        chunks=changed(chunks),
        # "yes" in the order of the corpus, if that is where the case stands earlier
        towards_first=share_of(
            (plain[case] is (before[case] > 0) for case in turns), "no verdict on what was moved changed"
        ),
    )


def _verbosity(scope: _Scope) -> Rounds[Verbosity]:
    """Effect of padding on the verdicts on statements."""
    padded = _joined((yield Round("verbosity", scope.layouts(paddings=read_corpus().paddings))))
    pairs = [(scope.plain[case], padded[case]) for case in in_both(scope.plain, padded)]
    yes, no = (share_of((pair == turn for pair in pairs), NO_PAIR) for turn in ((False, True), (True, False)))
    read = {case: verdict for case, verdict in padded.items() if verdict is not None}
    return Verbosity(
        shift=(yes.count - no.count) / yes.n if pairs else None,
        turned_yes=yes,
        turned_no=no,
        accuracy=share_of((verdict == scope.truth[case] for case, verdict in read.items()), NO_VERDICT),
        undefined=yes.undefined,
    )


def _consistency(scope: _Scope) -> Rounds[Consistency]:
    """Share of statements with the same verdict in all draws."""
    draws = [scope.plain]
    for number in range(2, scope.repeats + 1):
        # a folder for each, so that more repeats go on where fewer ended
        metric = Faithfulness(granularity="sentence", repetition=number)
        draws.append(_joined((yield Round(f"consistency-{number}", scope.layouts(), (metric,)))))
    drawn = [{verdicts[case] for verdicts in draws} for case in scope.plain if not case.is_chunk]
    agreed = (len(verdicts) == 1 for verdicts in drawn if None not in verdicts)
    return Consistency(draws=len(draws), agreed=share_of(agreed, "no statement has all its verdicts"))


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
    passages, attacks = spread(corpus.passages, limit), spread(tuple(enumerate(corpus.attacks)), limit)
    plain = yield Round("known-answers", list(map(laid_out, passages)), (STATEMENTS, CHUNKS))
    scope = _Scope(passages, attacks, repeats, _joined(plain), truth(passages))
    parts: dict[str, Any] = {"known_answers": known_answers_of(passages, scope.plain)}
    for name, procedure in _PROCEDURES.items():
        if only is None or name in only:
            parts[name] = yield from procedure(scope)
    return parts


def _joined(verdicts: Sequence[Verdicts]) -> Verdicts:
    """The verdicts on all layouts, where no case is in two of them."""
    return {case: verdict for of_layout in verdicts for case, verdict in of_layout.items()}


@listing_settings(TrafficArgs, Traffic().keywords)
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
    """Probe a judge with questions whose answers are known.

    All questions go through the prompts, parsers and metrics of an evaluation. Without a limit it makes about
    300 calls. `probe` works in a script, in a thread and inside a running event loop; `aprobe` is awaited.

    Args:
        judge: a judge, any callable from prompt to reply, or a name such as "embedded".
        only: probes to run; None for all. Known answers always run, because all other probes need them.
        limit: largest number of passages, and of attacks, spread over the corpus.
        repeats: number of times the consistency probe asks each question.
        out: folder for the records, as runs, and for the card, `probe.json`. The same call again resumes
            there and repeats no answered call.
        beside: folder of a run by the same judge; it gets the card, and the records in `probe/`.
        cache: cache of answered calls to share between runs.
        traffic: traffic settings: `Traffic(concurrency=64)`.
        date: date to write on the card; without it, the same probe gives the same card on every day.
        progress: function to call after each sample.
        settings: single settings of `traffic`; see `TrafficArgs`.

    Raises:
        ConfigError: wrong arguments, before any call.
        ModelError: the judge answered none of the first questions.
    """
    rounds = _rounds(only, limit, repeats)
    part = next(rounds)
    if judge is None:
        raise missing_model("judge", "a probe", "judge=...")
    asked = as_judge(judge)
    if beside is not None and out is not None:
        raise ConfigError("out and beside cannot be combined: pass out or beside")
    folder = None if beside is out is None else Path(beside or out or "")
    if beside is not None:
        check_beside(Path(beside), asked)
    runs = folder / "probe" if folder is not None and beside is not None else folder
    how: dict[str, Any] = {"cache": cache, "traffic": (traffic or Traffic()).replacing(**settings)}
    records: list[Record] = []
    done = latest = Progress(0, 0, 0, Tally())

    def tell(now: Progress) -> None:
        """Say what all runs have done, this one included."""
        nonlocal latest
        tally = Tally(*map(add, astuple(done.tally), astuple(now.tally)))
        counts = {name: getattr(done, name) + getattr(now, name) for name in now._fields if name != "tally"}
        latest = Progress(**counts, tally=tally)
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
        done = latest
        verdicts: list[Verdicts] = []
        is_first = not records
        for layout in part.layouts:
            of_layout = [run.score(layout.sample.id, metric) for metric in part.metrics]
            records.extend(of_layout)
            verdicts.append(_joined([layout.verdicts(record) for record in of_layout]))
        if is_first and all(record.status in ("model_error", "timeout") for record in records):
            reason = records[0].reason
            raise ModelError(f"the judge answered none of the first {len(records)} questions: {reason}")
        return verdicts

    try:
        while True:
            part = rounds.send(await verdicts_of(part))
    except StopIteration as end:
        parts = end.value
    card = FitnessCard(
        judge=known_as(asked),
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
    """Refuse to put a card into the run of a different judge.

    Raises:
        ConfigError: the run has a different judge.
    """
    run = Run.load(folder)
    if why := unlike(run.judge, known_as(judge)):
        raise ConfigError(
            f"the judge of the run in {folder} {why}: it cannot hold the card of a different judge"
        )


def count_samples(
    only: Collection[Probe] | None = None, *, limit: int | None = None, repeats: int = 3
) -> int:
    """Largest number of samples that a probe measures, for a progress bar; arguments as for `probe`."""
    rounds = _rounds(only, limit, repeats)
    right, count, part = truth(spread(read_corpus().passages, limit)), 0, next(rounds)
    # a judge that is always right offers every attack a verdict to turn
    with suppress(StopIteration):
        while True:
            count += len(part.layouts)
            part = rounds.send([right] * len(part.layouts))
    return count
