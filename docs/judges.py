"""Write figures of judges into the docs, from the cards that the package carries.

python docs/judges.py            write the figures, between the marks of the pages
python docs/judges.py --check    exit with 1 if a page differs from what would be written
"""

import json
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ragmetrics_core.probe import PeopleCard, Ranking, carried_cards, read_cards
from ragmetrics_core.study import Estimate

PAGES = tuple(Path(__file__).with_name(name) for name in ("index.md", "judges.md", "judge_tables.md"))
LIBRARY = Path(__file__).parents[1] / "ragmetrics_core" / "prompts" / "library"
# Written by benchmarks/small_model.py.
SMALL_MODEL = Path(__file__).parent / "small_model"
# Written by benchmarks/forms.py.
FORMS = SMALL_MODEL / "forms.json"
# The sets on which it is compared with others; further ones compare versions of prompts.
ASKED = ("ragtruth_qa", "wice_claims", "evouna")
MARKED = re.compile(r"(<!-- cards: (\w+) -->\n).*?(<!-- end of cards -->)", re.DOTALL)
WHEN = ("first", "again", "never")
HEADS = {"truth": "area", "rating": "Spearman", "preference": "share of pairs"}
# What each set asks of a judge; the rest is in its card.
SETS = {
    "ragtruth": "answers, summaries and texts from data, with marked hallucinations",
    "faithdial_audit": "turns of a dialogue, labelled by experts",
    "summedits": "summaries with one edit",
    "bump": "summaries with one error that a person put in",
    "halueval_qa": "made answers; the labels were constructed, not given by people",
    "wice_claims": "claims of Wikipedia against a web page; partly supported is not supported",
    "attributionbench": "claims against the passages that they cite",
    "factscore": "atomic facts of biographies against Wikipedia",
    "mtrag_human": "turns of a conversation, rated from 1 to 4 by three people",
    "evouna": "short answers to NQ and TriviaQA",
    "openqa_nq301": "short answers to NQ",
    "ragchecker_pairs": "two long answers, and which one people prefer",
    "alce_utility": "long answers, rated for use from 1 to 5",
}


def written(page: str, cards: Sequence[PeopleCard]) -> str:
    """The page with the tables of the cards between its marks."""

    def table(found: re.Match[str]) -> str:
        small_model = read_cards(SMALL_MODEL)
        if found[2] == "forms":
            return f"{found[1]}\n{forms()}\n\n{found[3]}"
        of = {"relatives": cards, **dict.fromkeys(("small", "cascade", "versions"), small_model)}
        shown = of.get(found[2], main_cards(cards))
        return f"{found[1]}\n{TABLES[found[2]](shown)}\n\n{found[3]}"

    return MARKED.sub(table, page)


def main_cards(cards: Sequence[PeopleCard]) -> Sequence[PeopleCard]:
    """The cards of the embedded judge with word vectors; its relatives have a table of their own."""
    return [card for card in cards if card.judge.endswith("+vectors")]


def forms() -> str:
    """How often replies were in the form, and what the scores were worth, before and with today's prompts."""
    kept: Sequence[Mapping[str, Any]] = json.loads(FORMS.read_text(encoding="utf-8"))
    lines: list[Sequence[str]] = []
    areas: list[Sequence[str]] = []
    for each in kept:
        judge = each["model"], each["held_to"]
        lines += [
            (*judge, row["prompt"], *(str(row[when]) for when in WHEN), _counted(row["deviations"]))
            for row in each["forms"]
        ]
        areas += [
            (*judge, f"`{row['set']}`, {row['n']}", row["metric"], row["area"], row.get("gain", ""))
            for row in each["areas"]
        ]
    head = ("model", "held to", "prompt", "first asking", "asked once more", "never", "accepted deviations")
    compared = ("model", "held to", "set, items", "metric", "area", "gain over the prompts before")
    return "\n".join([*_table(head, lines), "", *_table(compared, areas)])


def _counted(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name}: {count}" for name, count in counts.items())


def relatives(cards: Sequence[PeopleCard]) -> str:
    """A row for each set on which a relative was measured, a column for each judge."""
    judges = sorted({card.judge for card in cards})
    by = {(card.judge, card.set_name): card for card in cards}
    names = [name for name in SETS if sum((judge, name) in by for judge in judges) > 1]
    rows = [
        (
            f"`{name}`",
            HEADS[next(card.kind for card in cards if card.set_name == name)],
            *(_both(by.get((judge, name))) for judge in judges),
        )
        for name in names
    ]
    return "\n".join(_table(("set", "figure", *(f"`{judge}`" for judge in judges)), rows))


def _both(card: PeopleCard | None) -> str:
    """The figure by the score, and by the least probable statement where there is one."""
    if card is None:
        return ""
    least = next((each for each in card.rankings if each.name == "least probable statement"), None)
    values = [each.main.value for each in (card.rankings[0], least) if each is not None]
    return ", ".join(f"{value:.2f}" for value in values if value is not None)


def small(cards: Sequence[PeopleCard]) -> str:
    """A row for each way in which a small language model was asked, and `embedded` on the same items."""
    rows: list[tuple[str, ...]] = []
    alone = [
        card
        for card in cards
        if card.set_name in ASKED and (not card.savings or "unsure from 0.5 to 0.5" in card.judge)
    ]
    for card in alone:
        asked, read = sum(card.statuses.values()), card.replies.read
        unscored = [f"{count} {status.replace('_', ' ')}" for status, count in card.statuses.items()
                    if status != "ok"]  # fmt: skip
        rows.append(
            (
                f"`{card.set_name}`",
                f"`{_as_written(card)}`{_by(card)}",
                f"{card.n} of {asked}",
                ", ".join(unscored),
                _figure(card.rankings[0]),
                _shown(card.own),
                _figure(next(each for each in card.rankings if each.name == "word overlap")),
                f"{read.n / asked:.1f}",
                str(card.replies.asked_again or ""),
            )
        )
    head = ("set", "asked", "scored", "not scored", "area", "its own verdicts", "word overlap",
            "replies an item", "asked again")  # fmt: skip
    return "\n".join(_table(head, rows))


def cascade(cards: Sequence[PeopleCard]) -> str:
    """A row for each band in which the cheap judge of a cascade is unsure."""
    rows = [
        (
            f"`{card.set_name}`",
            f"{each.low:g} to {each.high:g}",
            _shown(each.saved),
            _shown(each.agreement),
            _signed(each.lost),
        )
        for card in cards
        if "unsure from 0 to 1" in card.judge  # knows the bands within it
        for each in card.savings
    ]
    head = ("set", "unsure from, to", "items that need no call for verdicts", "balanced accuracy", "lost")
    return "\n".join(_table(head, rows))


def versions(cards: Sequence[PeopleCard]) -> str:
    """Rows for each prompt of which several versions were asked about the same items, the usual one first."""
    groups: dict[tuple[str, ...], list[PeopleCard]] = {}
    for card in cards:
        if not card.judge.startswith("embedded") and "unsure from 0 to 1" not in card.judge:
            groups.setdefault((card.set_name, card.judge, _base(card)), []).append(card)
    by_rules = {(card.set_name, card.metric): card for card in cards if card.judge.startswith("embedded")}
    rows = [row for group in groups.values() if len(group) > 1 for row in _of_group(group, by_rules)]
    shown = {name.partition(".")[0] for cell, *_ in rows for name in re.findall(r"`(\w+\.v\d+)`", cell)}
    names = Counter(path.name.partition(".")[0] for path in LIBRARY.glob("*.md"))
    once = ", ".join(f"`{name}`" for name in sorted(names) if names[name] == 1)
    left = ", ".join(f"`{name}`" for name in sorted(names) if names[name] > 1 and name not in shown)
    head = ("prompts", "set", "scored", "area", "usual less this", "`embedded`")
    ends = [f"Never reworded: {once}.", f"Reworded and not measured: {left}." if left else ""]
    return "\n".join(_table(head, rows)) + "\n\n" + " ".join(each for each in ends if each)


def _of_group(
    cards: Sequence[PeopleCard], by_rules: Mapping[tuple[str, str], PeopleCard]
) -> Iterator[tuple[str, ...]]:
    """A row for each way of a group; a way that was not usual has what the usual one gains over it."""
    first, *others = sorted(cards, key=lambda card: (card.metric != _base(card), card.metric))
    differing = {name for card in others for name in set(card.prompts) ^ set(first.prompts)}
    gains = {each.over: each.gain for each in first.gains}
    for card in (first, *others):
        ids = [name for name in card.prompts if name in differing]
        prompt = ", ".join(f"`{name}`" for name in ids)
        prompt += ", each chunk alone" if "chunks=alone" in card.metric else ""
        prompt += " (usual then)" if card.metric == _base(card) else ""
        yield (
            prompt,
            f"`{card.set_name}`",
            f"{card.n} of {sum(card.statuses.values())}",
            _figure(card.rankings[0]),
            _signed(gains.get(card.metric)),
            _figure(rules.rankings[0]) if (rules := by_rules.get((card.set_name, card.metric))) else "",
        )


def _base(card: PeopleCard) -> str:
    """The metric's signature without the versions of its prompts."""
    name, _, settings = card.metric.rstrip(")").partition("(")
    kept = [
        each for each in settings.split(",") if each and not re.fullmatch(r"\w+=(\w+\.v\d+.*|alone)", each)
    ]
    return f"{name}({','.join(kept)})" if kept else name


def _by(card: PeopleCard) -> str:
    if card.judge.startswith("embedded"):
        return " by `embedded`"
    return ", verdicts by `embedded`" if card.savings else ""


def _as_written(card: PeopleCard) -> str:
    """The metric with what was set of it: "faithfulness(per_call=1)"."""
    name, _, rest = card.metric.partition("/")
    _, bracket, settings = rest.partition("(")
    return name + bracket + re.sub(r"@[0-9a-f]{8}", "", settings).replace(",", ", ")


def results(cards: Sequence[PeopleCard]) -> str:
    """A row for each set: the metric's score and the baselines."""
    rows = [_result(card) for card in cards]
    head = ("set", "n, sources", "figure", "by its score", "by the least probable statement", "word overlap",
            "shorter", "score less overlap", "calls, seconds an item")  # fmt: skip
    return "\n".join(_table(head, rows))


def _result(card: PeopleCard) -> tuple[str, ...]:
    named = {each.name: each for each in card.rankings}
    score, least = card.rankings[0], named.get("least probable statement")
    overlap, shorter = named["word overlap"], named["shorter"]
    return (
        f"`{card.set_name}`: {SETS.get(card.set_name, '')}",
        f"{card.n:,}, {card.sources:,}",
        HEADS[card.kind],
        _figure(score),
        _figure(least),
        _figure(overlap),
        _figure(shorter),
        _signed(overlap.gain),
        f"{card.calls or 0:.1f}, {card.seconds or 0:.3f}",
    )


def verdicts(cards: Sequence[PeopleCard]) -> str:
    """A row for each set of good and bad: balanced accuracies."""
    rows = [
        (
            f"`{card.set_name}`",
            card.metric.partition("/")[0] + (" of the claim" if "granularity=answer" in card.metric else ""),
            _shown(card.own),
            _shown(card.rankings[0].balanced),
            _shown(next(each for each in card.rankings if each.name == "word overlap").balanced),
            f"{card.good:,} of {card.n:,}",
        )
        for card in cards
        if card.kind == "truth"
    ]
    head = ("set", "metric", "its own verdicts", "at the fitted threshold", "word overlap", "good")
    return "\n".join(_table(head, rows))


def groups(cards: Sequence[PeopleCard]) -> str:
    """A row for each task and class."""
    rows = [
        (
            f"`{card.set_name}`",
            each.by,
            each.value,
            f"{each.n:,}",
            _shown(each.area),
            _shown(each.right),
        )
        for card in cards
        for each in card.groups
        # of a plain yes and no the class says what balanced accuracy says
        if each.by == "task" or len([other for other in card.groups if other.by == "class"]) > 2
    ]
    return "\n".join(_table(("set", "by", "value", "n", "area", "right at the fitted threshold"), rows))


def people(cards: Sequence[PeopleCard]) -> str:
    """A row for each set with several annotators."""
    rows: list[tuple[str, ...]] = []
    for card in cards:
        if (found := card.people) is not None:
            own = card.rankings[0]
            is_truth = card.kind == "truth"
            metric = own.balanced if is_truth else own.spearman
            rows.append(
                (
                    f"`{card.set_name}`",
                    "balanced accuracy" if is_truth else "Spearman",
                    _shown(found.balanced if is_truth else found.spearman),
                    _shown(metric),
                    _shown(found.alpha),
                    f"{found.annotators} people, {found.items:,} items",
                )
            )
    head = ("set", "figure", "one person against the others", "the metric", "alpha", "of")
    return "\n".join(_table(head, rows))


def published(cards: Sequence[PeopleCard]) -> str:
    """A row for each metric whose values a file publishes."""
    rows: list[tuple[str, ...]] = []
    for card in cards:
        others = [each for each in card.rankings if each.name.startswith("published ")]
        for each in (card.rankings[0], *others) if others else ():
            name = each.name.removeprefix("published ")
            rows.append(
                (
                    f"`{card.set_name}`",
                    f"`{name}`" if each in others else f"{name} by `{card.judge}`",
                    _shown(each.spearman),
                    _shown(each.kendall),
                    _signed(each.gain),
                )
            )
    return "\n".join(_table(("set", "metric", "Spearman", "Kendall", "ours less this"), rows))


def reliability(cards: Sequence[PeopleCard]) -> str:
    """A row for each tenth of probability, a column for each set whose verdicts have one."""
    told = [card for card in cards if card.reliability]
    tenths = sorted({(each.low, each.high) for card in told for each in card.reliability})
    rows: list[tuple[str, ...]] = []
    for low, high in tenths:
        by_set = [next((each for each in card.reliability if each.low == low), None) for card in told]
        cells = [f"{each.good.value or 0:.2f} of {each.n:,}" if each is not None else "" for each in by_set]
        rows.append((f"{low:.1f} to {high:.1f}", *cells))
    rows.append(("calibration error", *(f"{card.calibration or 0:.2f}" for card in told)))
    return "\n".join(_table(("probability", *(f"`{card.set_name}`" for card in told)), rows))


def cost(cards: Sequence[PeopleCard]) -> str:
    """Calls, time and readable replies of the judge, in one sentence."""
    items = sum(sum(card.statuses.values()) for card in cards)
    unread = sum(card.replies.read.n - card.replies.read.count for card in cards)
    replies = sum(card.replies.read.n for card in cards)
    unscored = items - sum(card.statuses.get("ok", 0) for card in cards)
    slowest = max((card.seconds or 0.0 for card in cards), default=0.0)
    judges = ", ".join(f"`{name}`" for name in dict.fromkeys(card.judge for card in cards))
    return (
        f"Measured: {judges} on {len(cards)} sets, {items:,} items, {replies:,} replies, of which {unread:,} "
        f"could not be read; {unscored:,} items have no score. The slowest set took {slowest:.2g} s an item, "
        "on a busy machine."
    )


def ranked(cards: Sequence[PeopleCard]) -> str:
    """The share of pairs of RAGTruth's answers to questions that the judge ranks rightly, in one sentence."""
    (card,) = (card for card in cards if card.set_name == "ragtruth")
    (area,) = (group.area for group in card.groups if (group.by, group.value) == ("task", "QA"))
    assert area is not None
    assert area.value is not None
    return (
        "The judge `embedded` ranks a supported answer above an unsupported one in "
        f"{area.value * 100:.0f} of 100 pairs on RAGTruth questions; a coin: 50 "
        "([its figures](judge_tables.md))."
    )


TABLES: dict[str, Callable[[Sequence[PeopleCard]], str]] = {
    "ranked": ranked,
    "results": results,
    "verdicts": verdicts,
    "groups": groups,
    "reliability": reliability,
    "people": people,
    "published": published,
    "cost": cost,
    "relatives": relatives,
    "small": small,
    "cascade": cascade,
    "versions": versions,
}


def _figure(ranking: Ranking | None) -> str:
    return _shown(ranking.main) if ranking is not None else ""


def _shown(figure: Estimate | None, digits: str = ".2f") -> str:
    return "" if figure is None or figure.value is None else format(figure, digits)


def _signed(figure: Estimate | None) -> str:
    return _shown(figure, "+z.2f")


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Rows in Markdown; a column that is empty throughout is left out."""
    kept = [place for place in range(len(head)) if any(row[place] for row in rows)]
    yield _row([head[place] for place in kept])
    yield _row(["---"] * len(kept))
    yield from (_row([row[place] for place in kept]) for row in rows)


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |".replace("|  |", "| |").replace("|  |", "| |")


def main() -> None:
    """Write the pages, or report which one differs."""
    for path in PAGES:
        page = path.read_text(encoding="utf-8")
        wanted = written(page, carried_cards())
        if "--check" not in sys.argv:
            path.write_text(wanted, encoding="utf-8")
        elif page != wanted:
            sys.exit(f"docs/{path.name} differs from the cards: python docs/judges.py writes their figures")


if __name__ == "__main__":
    main()
