"""The tables of a fitness card."""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from ragmetrics_core.probe._card import CardPart, FitnessCard, ShareOf, Verbosity
from ragmetrics_core.study import Cell, Estimate, StudyTable, TableColumn, table_of

__all__ = ["card_tables"]

_FIGURES = {
    "replies": "read",
    "known_answers": "answered accuracy statements chunks precision recall",
    "injection": "steered silenced",
    "position": "statements contexts chunks towards_first",
    "verbosity": "turned_yes turned_no shift accuracy",
    "consistency": "agreed",
}
"""The figures of each part of the card, in the order in which they are shown."""


class _CardRow(NamedTuple):
    """Subject and name of a figure, its share, the denominator, and why it is undefined."""

    of: str
    name: str
    share: Estimate
    n: int | None = None
    undefined: str | None = None

    @classmethod
    def rate(cls, of: str, name: str, rate: ShareOf) -> "_CardRow":
        """The row of a share."""
        return cls(of, name, rate.estimate, rate.n, rate.undefined)


def card_tables(card: FitnessCard) -> Iterator[StudyTable]:
    """Tables of the figures of all probes, and of their parts."""
    figures = list(_figures(card))
    reasons: dict[str, list[str]] = {}
    for figure in figures:
        if figure.undefined is not None:
            reasons.setdefault(figure.undefined, []).append(figure.name)
    without = (f"no share, since {reason}: {'; '.join(names)}" for reason, names in reasons.items())
    yield _table("card", f"Fitness card of {card.judge}", "probe figure", figures, (*without, *_notes(card)))
    known = card.known_answers
    rows = [
        _CardRow.rate(by, value, rate)
        for by, rates in (("kind", known.by_kind), ("language", known.by_language))
        for value, rate in rates.items()
    ]
    title = "Accuracy by what makes a statement hard, and by language"
    wrong = [f"wrong: {', '.join(known.wrong)}"] if known.wrong else []
    yield _table("known_answers", title, "by value", rows, wrong)
    if card.injection:
        yield _attacks(card)
    rows = [_CardRow.rate(prompt, "", rate) for prompt, rate in card.replies.by_prompt.items()]
    rules = [f"by form: {_counted(card.replies.rules)}"] if card.replies.rules else []
    yield _table("replies", "Replies that were read at first asking, by prompt", "prompt", rows, rules)


def _figures(card: FitnessCard) -> Iterator[_CardRow]:
    """Every figure of every probe that was run."""
    for name, figures in _FIGURES.items():
        value: CardPart | tuple[CardPart, ...] | None = getattr(card, name)
        for part in value if isinstance(value, tuple) else () if value is None else (value,):
            for field in figures.split():
                rate: ShareOf | float | None = getattr(part, field)
                of, title = name.replace("_", " "), type(part).model_fields[field].title or ""
                if isinstance(rate, ShareOf):
                    yield _CardRow.rate(of, title.format(part), rate)
                elif isinstance(part, Verbosity):
                    yield _CardRow(of, title, Estimate(rate), undefined=part.undefined)


def _table(name: str, title: str, heads: str, rows: Iterable[_CardRow], notes: Iterable[str]) -> StudyTable:
    """A table of shares, which shows their subject only if it changes."""
    columns, lines, last = ("of", "name")[: len(heads.split())], list[_CardRow](), ""
    for row in rows:
        lines.append(row._replace(of="" if row.of == last else row.of))
        last = row.of
    titles = dict(zip(columns, heads.split(), strict=True))
    return table_of(name, title, _CardRow, lines, f"{' '.join(columns)} share n", notes, titles=titles)


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
    variants = card.injection or ()
    rows: list[tuple[Cell, ...]] = []
    for group in ("field", "kind"):
        by = [part.by_field if group == "field" else part.by_kind for part in variants]
        for place, name in enumerate(sorted(set[str]().union(*by))):
            cells = (f"{rates[name].count} of {rates[name].n}" if name in rates else "" for rates in by)
            rows.append(("" if place else group, name, *cells))
    steered = [f"steered, {part.name}: {', '.join(part.steered_by)}" for part in variants if part.steered_by]
    note = "of those that met a verdict that was right without them; paper shows no question or reference"
    return StudyTable(
        name="attacks",
        title="Attacks that steered, by where they stand and what they try",
        columns=tuple(map(TableColumn, ("by", "value", *(part.name for part in variants)))),
        rows=tuple(rows),
        notes=(note, *steered),
    )


def _counted(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counts.items())
