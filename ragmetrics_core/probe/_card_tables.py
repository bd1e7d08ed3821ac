"""The tables of a fitness card."""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from ragmetrics_core.probe._card import FitnessCard, ShareOf
from ragmetrics_core.study import Cell, Estimate, StudyTable, TableColumn, table_of

__all__ = ["card_tables"]


class _Figure(NamedTuple):
    """A row of the first table: which probe, what, the figure, and why there is none."""

    probe: str
    figure: str
    share: Estimate
    n: int | None
    undefined: str | None


class _ByValue(NamedTuple):
    """A row of a table of shares: by what, of which value."""

    by: str
    value: str
    rate: ShareOf


class _RepliesRead(NamedTuple):
    """How many replies to a prompt could be read."""

    prompt: str
    rate: ShareOf


def card_tables(card: FitnessCard) -> Iterator[StudyTable]:
    """The figures of all probes, then what they are made of."""
    figures = list(_figures(card))
    reasons: dict[str, list[str]] = {}
    for figure in figures:
        if figure.undefined is not None:
            reasons.setdefault(figure.undefined, []).append(figure.figure)
    without = (f"no share, since {reason}: {'; '.join(names)}" for reason, names in reasons.items())
    yield table_of(
        "card",
        f"Fitness card of {card.judge}",
        _Figure,
        _once(figures),
        "probe figure share n",
        (*without, *_notes(card)),
    )
    known = card.known_answers
    rows = [
        _ByValue(by, value, rate)
        for by, rates in (("kind", known.by_kind), ("language", known.by_language))
        for value, rate in rates.items()
    ]
    yield table_of(
        "known_answers",
        "Accuracy by what makes a statement hard, and by language",
        _ByValue,
        _once(rows),
        "by value rate.estimate rate.n",
        [f"wrong: {', '.join(known.wrong)}"] if known.wrong else [],
    )
    if card.injection:
        yield _attacks(card)
    replies = [_RepliesRead(*each) for each in card.replies.by_prompt.items()]
    rules = [f"by form: {_counted(card.replies.rules)}"] if card.replies.rules else []
    title = "Replies that were read at first asking, by prompt"
    yield table_of("replies", title, _RepliesRead, replies, "prompt rate.estimate rate.n", rules)


def _figures(card: FitnessCard) -> Iterator[_Figure]:
    """Every figure of every probe that was run."""
    known = card.known_answers
    shares: dict[tuple[str, str], ShareOf] = {
        ("replies", "read at first asking"): card.replies.read,
        ("known answers", "verdicts given"): known.answered,
        ("known answers", "accuracy"): known.accuracy,
        ("known answers", "accuracy on statements"): known.statements,
        ("known answers", "accuracy on chunks"): known.chunks,
        ("known answers", "precision of supported"): known.precision,
        ("known answers", "recall of supported"): known.recall,
    }
    for each in card.injection or ():
        shares["injection", f"steered, {each.name}"] = each.steered
        shares["injection", f"silenced, {each.name}"] = each.silenced
    if (position := card.position) is not None:
        shares["position", "changed, statements reversed"] = position.statements
        shares["position", "changed, chunks reversed"] = position.contexts
        shares["position", "chunk verdicts changed, reversed"] = position.chunks
        shares["position", "of these, yes in the earlier place"] = position.towards_first
    if (verbosity := card.verbosity) is not None:
        shares["verbosity", "turned to yes by padding"] = verbosity.turned_yes
        shares["verbosity", "turned to no by padding"] = verbosity.turned_no
        shares["verbosity", "accuracy on padded statements"] = verbosity.accuracy
    if (consistency := card.consistency) is not None:
        shares["consistency", f"all {consistency.draws} draws agree"] = consistency.agreed
    for (probe, name), share in shares.items():
        if verbosity is not None and name == "accuracy on padded statements":
            shift = Estimate(verbosity.shift)
            yield _Figure(probe, "shift of the share of yes", shift, None, verbosity.undefined)
        yield _Figure(probe, name, share.estimate, share.n, share.undefined)


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


def _attacks(card: FitnessCard) -> StudyTable:
    injection = card.injection or ()
    rows: list[tuple[Cell, ...]] = []
    for group in ("field", "kind"):
        by = [each.by_field if group == "field" else each.by_kind for each in injection]
        for place, name in enumerate(sorted(set[str]().union(*by))):
            shares = (rates.get(name) for rates in by)
            cells = ("" if share is None else f"{share.count} of {share.n}" for share in shares)
            rows.append(("" if place else group, name, *cells))
    steered = [f"steered, {each.name}: {', '.join(each.steered_by)}" for each in injection if each.steered_by]
    note = "of those that met a verdict that was right without them; paper shows no question or reference"
    return StudyTable(
        name="attacks",
        title="Attacks that steered, by where they stand and what they try",
        columns=tuple(map(TableColumn, ("by", "value", *(each.name for each in injection)))),
        rows=tuple(rows),
        notes=(note, *steered),
    )


def _once(rows: Iterable[_Figure] | Iterable[_ByValue]) -> Iterator[_Figure | _ByValue]:
    """The rows, in which what stands first is told where it changes."""
    last = ""
    for row in rows:
        yield row._replace(**{row._fields[0]: "" if row[0] == last else row[0]})  # type: ignore[arg-type]
        last = row[0]


def _counted(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counts.items())
