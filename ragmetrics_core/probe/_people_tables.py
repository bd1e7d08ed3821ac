"""The tables of a card on people's labels."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from ragmetrics_core.probe._people_card import CardGroup, PeopleCard, Ranking, ReliabilityBin, Saving
from ragmetrics_core.study import Cell, Estimate, StudyTable, TableColumn, table_of
from ragmetrics_core.texts.wording import number_of

__all__ = ["MAIN_FIGURES", "NEVER", "compared_tables", "people_lines", "people_tables"]

MAIN_FIGURES = {"truth": "area", "rating": "Spearman", "preference": "share of pairs"}
"""The figure that a set gives, by its kind."""

NEVER = "never measured on people's labels"
_MEASURED = "measured on people's labels: "
_MOST = 2
# which text of a version it was is for files to say
_DIGEST = re.compile(r"@[0-9a-f]{8}")

_FIGURES = ("area", "balanced", "spearman", "kendall", "preferred")


def people_tables(card: PeopleCard) -> Iterator[StudyTable]:
    """Tables of scores and baselines, classes and tasks, people, and the judge's replies."""
    rows = [*card.rankings]
    figures = [name for name in _FIGURES if any(getattr(row, name) for row in rows)]
    if (people := card.people) is not None:
        of_people = {name: getattr(people, name) for name in ("balanced", "spearman", "kendall")}
        rows.append(Ranking(name="one person", n=people.items, **of_people))
    title = f"{card.judge} on {card.set_name}: {card.metric}, asked whether {card.question}"
    yield table_of("people", title, Ranking, rows, f"name {' '.join(figures)} gain n", _notes(card))
    if card.groups:
        columns = "by value area right good n"
        yield table_of("groups", "By class and by task", CardGroup, card.groups, columns)
    if card.savings:
        notes = (
            "calls saved: the share of items whose verdicts the cheap judge gives alone",
            "balanced accuracy of the decisions against people: every statement supported or not",
            "lost: what the band that was measured, the last one, has more; of a wider one nothing is known",
        )
        title = "What the cheap judge saves, by the band in which it is unsure"
        yield table_of("savings", title, Saving, card.savings, "unsure saved agreement lost", notes)
    if card.reliability:
        by = " by the cheap judge" if card.savings else ""
        notes = (
            f"of the least probable statement{by}; good: the share that people call good",
            "figure: that share as a bar; | is the mean probability, where the bar would end if it held",
            f"expected calibration error {card.calibration or 0:.2f}",
        )
        columns, title = "probability mean good n figure", "What a probability is worth"
        yield table_of("reliability", title, ReliabilityBin, card.reliability, columns, notes)
    read, again = card.replies.read, card.replies.read_again
    costs: dict[str, Cell] = {
        "replies read at first asking": read.estimate,
        "replies read when asked again": again,
        "replies never read": read.n - read.count - again,
        **{f"{name} an item": getattr(card, name) for name in ("calls", "tokens", "cost", "seconds")},
    }
    yield StudyTable(
        name="replies",
        title="Replies, time and cost",
        columns=(TableColumn("what"), TableColumn("figure", "estimate")),
        rows=tuple((what, figure) for what, figure in costs.items() if figure is not None),
    )


class _Setting(NamedTuple):
    settings: str
    scored: int
    main: Estimate
    gain: Estimate | None
    on: int | None
    calls: float | None


def compared_tables(cards: Sequence[PeopleCard]) -> Iterator[StudyTable]:
    """A table for each metric: a row for each of its settings, with the gain over the first."""
    for name in dict.fromkeys(card.metric.partition("/")[0] for card in cards):
        first, *others = (card for card in cards if card.metric.partition("/")[0] == name)
        rows: list[_Setting] = []
        for card in (first, *others):
            over = [(paired.gain, paired.n) for paired in card.gains if paired.over == first.metric]
            gain, on = next(iter(over), (None, None))
            settings, main = _DIGEST.sub("", card.metric.partition("/")[2]), card.rankings[0].main
            rows.append(_Setting(settings, card.n, main, gain, on, card.calls))
        figure = MAIN_FIGURES[first.kind]
        yield table_of(
            "settings",
            f"{first.judge} on {first.set_name}: {name}, asked whether {first.question}",
            _Setting,
            rows,
            "settings scored main gain on calls",
            (
                f"{first.asked:,} {first.things} of {first.sources:,} sources (by {first.source}); label: "
                f"{first.label}; intervals of 95 %, for which whole sources were drawn",
                f"gain: the paired difference of {figure} to the first, on the {first.things} that both "
                "scored",
                "calls: for one item; a choice by these figures is to be checked on other samples",
            ),
            titles={"main": figure},
        )


def people_lines(cards: Mapping[str, Sequence[PeopleCard]]) -> Iterator[str]:
    """Lines on measurements against people's labels: one for each metric, with its largest sets first.

    Args:
        cards: cards by the signature of a metric; empty for a metric without cards.
    """
    for signature, of_metric in cards.items():
        ordered = sorted(of_metric, key=lambda card: -card.n)
        if ordered:
            more = len(ordered) - _MOST
            rest = f"; and {number_of(more, 'more set')}" if more > 0 else ""
            yield f"{signature} {_MEASURED}{'; '.join(card.line for card in ordered[:_MOST])}{rest}"
    if never := [signature for signature, of_metric in cards.items() if not of_metric]:
        yield f"{NEVER}: {', '.join(never)}"


def _notes(card: PeopleCard) -> Iterator[str]:
    good = "" if card.good is None else f", {card.good:,} of them good"
    counted = f"{card.n:,} {card.things}{good}"
    yield f"{counted}, of {card.sources:,} sources (by {card.source}); label: {card.label}"
    yield "intervals of 95 %, for which whole sources were drawn"
    if card.kind == "truth":
        yield "balanced accuracy: each half at the threshold that the other half fitted; they share no source"
    yield f"metric less this: the paired difference of {MAIN_FIGURES[card.kind]}"
    by = "the share of statements that are supported" if card.question == "faithful" else "its score"
    yield f"ranked by {card.rankings[0].name}: {by}"
    if card.own is not None and card.own.value is not None:
        decisions = "of the judge's own decisions (every statement supported or not)"
        yield f"balanced accuracy {decisions}: {card.own:.2f}"
    if (people := card.people) is not None:
        against = "the majority" if people.balanced is not None else "the mean"
        yield (
            f"one person: each of {people.annotators} annotators against {against} of the others; "
            f"Krippendorff's alpha {people.alpha:.2f}"
        )
    unscored = {name: count for name, count in card.statuses.items() if name != "ok"}
    left = [f"{count} {name.replace('_', ' ')}" for name, count in (unscored | card.dropped).items()]
    if left:
        yield f"left out: {', '.join(left)}"
