"""The tables of a fitness card."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple, Self

from ragmetrics_core.probe._card import FitnessCard, Injection, ShareOf
from ragmetrics_core.study import Cell, Estimate, StudyTable, TableColumn

__all__ = ["card_tables"]

Row = tuple[Cell, ...]

_RATE = (TableColumn("share", "estimate"), TableColumn("n", "count"))


def card_tables(card: FitnessCard) -> Iterator[StudyTable]:
    """The figures of all probes, then what they are made of."""
    yield _figures(card)
    yield _known_answers(card)
    if card.injection:
        yield _attacks(card.injection)
    yield _replies(card)


class _Figure(NamedTuple):
    """A row of the first table: which probe, what, the figure, and why there is none."""

    probe: str
    name: str
    value: Estimate
    n: int | None
    undefined: str | None

    @classmethod
    def of(cls, probe: str, name: str, rate: ShareOf) -> Self:
        return cls(probe, name, rate.estimate, rate.n, rate.undefined)


def _figures(card: FitnessCard) -> StudyTable:
    figures = list(_all_figures(card))
    # the name of a probe stands once, in its first row
    first = {each.probe: each for each in reversed(figures)}
    reasons: dict[str, list[str]] = {}
    for each in figures:
        if each.undefined is not None:
            reasons.setdefault(each.undefined, []).append(each.name)
    return StudyTable(
        name="card",
        title=f"Fitness card of {card.judge}",
        columns=(TableColumn("probe"), TableColumn("figure"), *_RATE),
        rows=tuple(
            (each.probe if first[each.probe] is each else "", each.name, each.value, each.n)
            for each in figures
        ),
        notes=(
            *(f"no share, since {reason}: {'; '.join(names)}" for reason, names in reasons.items()),
            *_notes(card),
        ),
    )


def _all_figures(card: FitnessCard) -> Iterator[_Figure]:
    known = card.known_answers
    yield _Figure.of("replies", "read at first asking", card.replies.read)
    yield _Figure.of("known answers", "verdicts given", known.answered)
    yield _Figure.of("known answers", "accuracy", known.accuracy)
    yield _Figure.of("known answers", "accuracy on statements", known.statements)
    yield _Figure.of("known answers", "accuracy on chunks", known.chunks)
    yield _Figure.of("known answers", "precision of supported", known.precision)
    yield _Figure.of("known answers", "recall of supported", known.recall)
    for each in card.injection or ():
        yield _Figure.of("injection", f"steered, {_name(each)}", each.steered)
        yield _Figure.of("injection", f"silenced, {_name(each)}", each.silenced)
    if (position := card.position) is not None:
        yield _Figure.of("position", "changed, statements reversed", position.statements)
        yield _Figure.of("position", "changed, chunks reversed", position.contexts)
        yield _Figure.of("position", "chunk verdicts changed, reversed", position.chunks)
        yield _Figure.of("position", "of these, yes in the earlier place", position.towards_first)
    if (verbosity := card.verbosity) is not None:
        yield _Figure.of("verbosity", "turned to yes by padding", verbosity.turned_yes)
        yield _Figure.of("verbosity", "turned to no by padding", verbosity.turned_no)
        shift = Estimate(verbosity.shift)
        yield _Figure("verbosity", "shift of the share of yes", shift, None, verbosity.undefined)
        yield _Figure.of("verbosity", "accuracy on padded statements", verbosity.accuracy)
    if (consistency := card.consistency) is not None:
        yield _Figure.of("consistency", f"all {consistency.draws} draws agree", consistency.agreed)


def _notes(card: FitnessCard) -> Iterator[str]:
    made_by = ", ".join(f"{name} {version}" for name, version in sorted(card.versions.items()))
    taken = "all of it" if card.limit is None else f"at most {card.limit} passages and attacks of it"
    yield "shares with Wilson's 95 % interval; n: how many verdicts, attacks or replies are counted"
    yield f"{made_by}; corpus {card.corpus[:8]}, {taken}" + (f"; {card.date}" if card.date else "")
    unusual = {name: count for name, count in card.replies.statuses.items() if name != "ok"}
    if unusual:
        yield "measurements that came to no value: " + _counted(unusual)
    if card.replies.asked_again or card.replies.cut:
        again, read, cut = card.replies.asked_again, card.replies.read_again, card.replies.cut
        yield f"asked again: {again}, of which {read} were read then; cut by the length limit: {cut}"


def _known_answers(card: FitnessCard) -> StudyTable:
    known = card.known_answers
    rows = [_row("kind" if first else "", name, rate) for first, name, rate in _numbered(known.by_kind)]
    rows += [
        _row("language" if first else "", name, rate) for first, name, rate in _numbered(known.by_language)
    ]
    return StudyTable(
        name="known_answers",
        title="Accuracy by what makes a statement hard, and by language",
        columns=(TableColumn("by"), TableColumn("value"), *_RATE),
        rows=tuple(rows),
        notes=(f"wrong: {', '.join(known.wrong)}",) if known.wrong else (),
    )


def _attacks(injection: Sequence[Injection]) -> StudyTable:
    rows: list[Row] = []
    for group in ("field", "kind"):
        by = [each.by_field if group == "field" else each.by_kind for each in injection]
        for place, name in enumerate(sorted(set[str]().union(*by))):
            found = [rates.get(name) for rates in by]
            rows.append((group if place == 0 else "", name, *(_of(rate) for rate in found)))
    steered = [
        f"steered, {_name(each)}: {', '.join(each.steered_by)}" for each in injection if each.steered_by
    ]
    return StudyTable(
        name="attacks",
        title="Attacks that steered, by where they stand and what they try",
        columns=(TableColumn("by"), TableColumn("value"), *(TableColumn(_name(each)) for each in injection)),
        rows=tuple(rows),
        notes=(
            "of those that met a verdict that was right without them; paper shows no question or reference",
            *steered,
        ),
    )


def _replies(card: FitnessCard) -> StudyTable:
    return StudyTable(
        name="replies",
        title="Replies that were read at first asking, by prompt",
        columns=(TableColumn("prompt"), *_RATE),
        rows=tuple((name, rate.estimate, rate.n) for name, rate in card.replies.by_prompt.items()),
        notes=(f"by form: {_counted(card.replies.rules)}",) if card.replies.rules else (),
    )


def _row(by: str, value: str, rate: ShareOf) -> Row:
    return by, value, rate.estimate, rate.n


def _of(rate: ShareOf | None) -> str:
    return "" if rate is None else f"{rate.count} of {rate.n}"


def _name(injection: Injection) -> str:
    return injection.variant.split(".")[0]


def _numbered(rates: dict[str, ShareOf]) -> Iterator[tuple[bool, str, ShareOf]]:
    return ((place == 0, name, rate) for place, (name, rate) in enumerate(rates.items()))


def _counted(counts: dict[str, int]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counts.items())
