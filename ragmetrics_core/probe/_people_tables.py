"""The tables of a card on people's labels."""

import re
from collections.abc import Iterator, Mapping, Sequence

from ragmetrics_core.probe._people_card import Interval, PeopleCard, ReliabilityBin
from ragmetrics_core.study import Cell, Estimate, StudyTable, TableColumn

__all__ = ["MAIN_FIGURES", "NEVER", "compared_tables", "people_lines", "people_tables"]

MAIN_FIGURES = {"truth": "area", "rating": "Spearman", "preference": "share of pairs"}
"""The figure that a set gives, by its kind."""

NEVER = "never measured on people's labels"
_TOLD = "measured on people's labels: "
_MOST = 2
# which text of a version it was is for files to say
_DIGEST = re.compile(r"@[0-9a-f]{8}")
_WIDTH = 20

_FIGURES = (
    ("area", "area"),
    ("balanced", "balanced accuracy"),
    ("spearman", "Spearman"),
    ("kendall", "Kendall"),
    ("preferred", "prefers as people"),
)


def people_tables(card: PeopleCard) -> Iterator[StudyTable]:
    """The scores beside the baselines, then classes and tasks, people, and how the judge replied."""
    yield _rankings(card)
    if card.groups:
        yield _groups(card)
    if card.savings:
        yield _savings(card)
    if card.reliability:
        yield _reliability(card)
    yield _replies(card)


def compared_tables(cards: Sequence[PeopleCard]) -> Iterator[StudyTable]:
    """A table for each metric: a row for each of its settings, and what it gains over the first."""
    names = dict.fromkeys(card.metric.partition("/")[0] for card in cards)
    for name in names:
        yield _settings(name, [card for card in cards if card.metric.partition("/")[0] == name])


def _settings(name: str, cards: Sequence[PeopleCard]) -> StudyTable:
    first = cards[0]
    figure = MAIN_FIGURES[first.kind]
    rows: list[tuple[Cell, ...]] = []
    for card in cards:
        over = next((each for each in card.gains if each.over == first.metric), None)
        rows.append(
            (
                _DIGEST.sub("", card.metric.partition("/")[2]),
                card.n,
                _estimate(card.rankings[0].main),
                _estimate(over.gain if over else None),
                over.n if over else None,
                card.calls,
            )
        )
    counted = f"{first.asked:,} {first.things} of {first.sources:,} sources (by {first.source})"
    return StudyTable(
        name="settings",
        title=f"{first.judge} on {first.set_name}: {name}, asked whether {first.question}",
        columns=(
            TableColumn("settings"),
            TableColumn("scored", "count"),
            TableColumn(figure, "estimate"),
            TableColumn("gain", "estimate"),
            TableColumn("on", "count"),
            TableColumn("calls", "number"),
        ),
        rows=tuple(rows),
        notes=(
            f"{counted}; label: {first.label}; intervals of 95 %, for which whole sources were drawn",
            f"gain: the paired difference of {figure} to the first, on the {first.things} that both scored",
            "calls: for one item; a choice by these figures is to be checked on other samples",
        ),
    )


def people_lines(cards: Mapping[str, Sequence[PeopleCard]]) -> Iterator[str]:
    """What was measured on people's labels: a line for each metric, the larger sets first, then the rest.

    Args:
        cards: by the signature of a metric; none for one that was never measured.
    """
    for signature, each in cards.items():
        ordered = sorted(each, key=lambda card: -card.n)
        if ordered:
            more = len(ordered) - _MOST
            rest = f"; and {more} more {'set' if more == 1 else 'sets'}" if more > 0 else ""
            yield f"{signature} {_TOLD}{'; '.join(card.line for card in ordered[:_MOST])}{rest}"
    if never := [signature for signature, each in cards.items() if not each]:
        yield f"{NEVER}: {', '.join(never)}"


def _rankings(card: PeopleCard) -> StudyTable:
    shown = [name for name, _ in _FIGURES if any(getattr(each, name) for each in card.rankings)]
    of_what = MAIN_FIGURES[card.kind]
    rows: list[tuple[Cell, ...]] = [
        (each.name, *(_estimate(getattr(each, name)) for name in shown), _estimate(each.gain), each.n)
        for each in card.rankings
    ]
    if (people := card.people) is not None:
        values = {"balanced": people.balanced, "spearman": people.spearman, "kendall": people.kendall}
        rows.append(
            ("one person", *(_estimate(values.get(name)) for name in shown), Estimate(None), people.items)
        )
    titles = dict(_FIGURES)
    return StudyTable(
        name="people",
        title=f"{card.judge} on {card.set_name}: {card.metric}, asked whether {card.question}",
        columns=(
            TableColumn("score"),
            *(TableColumn(titles[name], "estimate") for name in shown),
            TableColumn("metric less this", "estimate"),
            TableColumn("n", "count"),
        ),
        rows=tuple(rows),
        notes=tuple(_notes(card, of_what)),
    )


def _notes(card: PeopleCard, of_what: str) -> Iterator[str]:
    good = "" if card.good is None else f", {card.good:,} of them good"
    counted = f"{card.n:,} {card.things}{good}"
    yield f"{counted}, of {card.sources:,} sources (by {card.source}); label: {card.label}"
    yield "intervals of 95 %, for which whole sources were drawn"
    if card.kind == "truth":
        yield "balanced accuracy: each half at the threshold that the other half fitted; they share no source"
    yield f"metric less this: the paired difference of {of_what}"
    yield f"ranked by {card.rankings[0].name}: {_ranked_by(card)}"
    if card.own is not None and card.own.value is not None:
        yield f"balanced accuracy of the judge's own decisions (every statement supported or not): {card.own}"
    if (people := card.people) is not None:
        against = "the majority" if people.balanced is not None else "the mean"
        yield (
            f"one person: each of {people.annotators} annotators against {against} of the others; "
            f"Krippendorff's alpha {people.alpha}"
        )
    unscored = {name: count for name, count in card.statuses.items() if name != "ok"}
    left = [f"{count} {name.replace('_', ' ')}" for name, count in (unscored | card.dropped).items()]
    if left:
        yield f"left out: {', '.join(left)}"


def _ranked_by(card: PeopleCard) -> str:
    return "the share of statements that are supported" if card.question == "faithful" else "its score"


def _groups(card: PeopleCard) -> StudyTable:
    return StudyTable(
        name="groups",
        title="By class and by task",
        columns=(
            TableColumn("by"),
            TableColumn("value"),
            TableColumn("area", "estimate"),
            TableColumn("right at the fitted threshold", "estimate"),
            TableColumn("good", "count"),
            TableColumn("n", "count"),
        ),
        rows=tuple(
            (each.by, each.value, _estimate(each.area), _estimate(each.right), each.good, each.n)
            for each in card.groups
        ),
    )


def _savings(card: PeopleCard) -> StudyTable:
    return StudyTable(
        name="savings",
        title="What the cheap judge saves, by the band in which it is unsure",
        columns=(
            TableColumn("unsure"),
            TableColumn("calls saved", "estimate"),
            TableColumn("balanced accuracy", "estimate"),
            TableColumn("lost", "estimate"),
        ),
        rows=tuple(
            (
                f"{each.low:g} to {each.high:g}",
                each.saved.estimate,
                each.agreement.estimate,
                each.lost.estimate,
            )
            for each in card.savings
        ),
        notes=(
            "calls saved: the share of items whose verdicts the cheap judge gives alone",
            "balanced accuracy of the decisions against people: every statement supported or not",
            "lost: what the band that was measured, the last one, has more; of a wider one nothing is known",
        ),
    )


def _reliability(card: PeopleCard) -> StudyTable:
    return StudyTable(
        name="reliability",
        title="What a probability is worth",
        columns=(
            TableColumn("probability"),
            TableColumn("mean", "number"),
            TableColumn("good", "estimate"),
            TableColumn("n", "count"),
            TableColumn("figure"),
        ),
        rows=tuple(
            (f"{each.low:.1f} to {each.high:.1f}", each.mean, each.good.estimate, each.n, _bar(each))
            for each in card.reliability
        ),
        notes=(
            f"of the least probable statement{' by the cheap judge' if card.savings else ''}; good: the "
            "share that people call good",
            "figure: that share as a bar; | is the mean probability, where the bar would end if it held",
            f"expected calibration error {card.calibration or 0:.2f}",
        ),
    )


def _bar(each: ReliabilityBin) -> str:
    """The share of good items as a bar, with a mark at the probability."""
    filled, at = round(_WIDTH * (each.good.value or 0.0)), min(round(_WIDTH * each.mean), _WIDTH - 1)
    cells = ["#" if place < filled else "." for place in range(_WIDTH)]
    cells[at] = "|"
    return "".join(cells)


def _replies(card: PeopleCard) -> StudyTable:
    replies = card.replies
    figures: list[tuple[str, Cell]] = [
        ("replies read at first asking", replies.read.estimate),
        ("replies read when asked again", replies.read_again),
        ("replies never read", replies.read.n - replies.read.count - replies.read_again),
        ("calls an item", card.calls),
        ("tokens an item", card.tokens),
        ("cost an item", card.cost),
        ("seconds an item", card.seconds),
    ]
    return StudyTable(
        name="replies",
        title="Replies, time and cost",
        columns=(TableColumn("what"), TableColumn("figure", "estimate")),
        rows=tuple((name, value) for name, value in figures if value is not None),
    )


def _estimate(interval: Interval | None) -> Estimate:
    return Estimate(None) if interval is None else interval.estimate
