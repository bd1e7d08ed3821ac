"""A small language model as the judge of a few items that people labelled, with several ways to ask it.

Run: python -m benchmarks.small_model --judge openai:MODEL@URL [--each 20] [--cache FOLDER]

The sets are looked for in $RAGMETRICS_SHARED/data or ../shared/data beside the checkout. Of each the same
items are drawn every time, half of them good, of as many sources as there are. Cards go to
docs/small_model.json, from which docs/judges.py writes the page's table; `embedded` is measured on the same
items. With a folder for answered calls a run that was stopped goes on where it was.
"""

import argparse
import hashlib
import json
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

if not __package__:  # run as a file: the folder above must be importable
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.truth import ROOT, SHARED
from ragmetrics_core.errors import RagMetricsError
from ragmetrics_core.models import Cascade, as_judge
from ragmetrics_core.models._judge_options import read_options
from ragmetrics_core.models._names import judge_by_name
from ragmetrics_core.probe import keep_card, probe_on
from ragmetrics_core.protocol import Judge

CARDS = ROOT / "docs" / "small_model"
Row = Mapping[str, Any]


@dataclass(frozen=True)
class Drawn:
    """Items of a set: which rows, what they share, when one is good, and the ways to ask.

    With `cascade`, one of the ways, `embedded` is asked before the model, too. For `splits` the model makes
    the statements and `embedded` gives the verdicts, which shows what the statements are worth.
    """

    file: str
    source: str
    good: Callable[[Row], bool]
    metrics: tuple[str, ...]
    cascade: str = ""
    splits: tuple[str, ...] = ()
    taken: Callable[[Row], bool] = lambda row: True

    def rows(self, shared: Path, n: int) -> Iterator[Row]:
        """Good and bad in turn, in the order of their names' digests; a source's second item comes late."""
        lines = (shared / self.file).read_text(encoding="utf-8").splitlines()
        rows = [row for row in map(json.loads, lines) if self.taken(row)]
        halves = [self._ordered(row for row in rows if self.good(row) is good) for good in (False, True)]
        for pair in list(zip(*halves, strict=False))[: n // 2]:
            # one reference an item: each further one would take two calls more
            yield from ({name: row[name] for name in row if name != "references"} for row in pair)

    def _ordered(self, rows: Iterable[Row]) -> list[Row]:
        seen: Counter[str] = Counter()
        turns: list[tuple[int, str, Row]] = []
        for digest, row in sorted(((_digest(row["id"]), row) for row in rows), key=lambda each: each[0]):
            turns.append((seen[row[self.source]], digest, row))
            seen[row[self.source]] += 1
        return [row for *_, row in sorted(turns, key=lambda turn: turn[:2])]


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


_ALONE = "per_call=1, verify=verdicts.v4"
SETS = {
    "ragtruth_qa": Drawn(
        "ragtruth/ragtruth.jsonl",
        "source_id",
        lambda row: not row["label_hallucinated"],
        (
            "faithfulness",
            "faithfulness(verify=verdicts.v1)",
            "faithfulness(per_call=1)",
            "faithfulness(granularity=sentence)",
            f"faithfulness(granularity=sentence, {_ALONE})",
        ),
        cascade="faithfulness(granularity=sentence)",
        splits=("faithfulness", "faithfulness(decompose=statements.v2)"),
        taken=lambda row: row["task_type"] == "QA",
    ),
    "wice_claims": Drawn(
        "wice_claims/wice_claims.jsonl",
        "claim_title",
        lambda row: row["label"] == "supported",
        ("faithfulness", "faithfulness(granularity=answer)"),
        # what a small model reads in a minute
        taken=lambda row: sum(map(len, row["contexts"])) < 4000,
    ),
    "evouna": Drawn(
        "evouna/evouna.jsonl",
        "question",
        lambda row: bool(row["label_correct"]),
        (
            "factual_correctness",
            "factual_correctness(verify=reference_verdicts.v1, cover=answer_verdicts.v1)",
            "factual_correctness(verify=reference_verdicts.v3, cover=answer_verdicts.v3)",
            "answer_accuracy",
        ),
    ),
}


def main() -> None:
    """Measure, and keep a card for each set, metric and judge."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--judge", required=True, help="the judge's name")
    parser.add_argument("--judge-option", action="append", default=[], help="as for `ragmetrics probe`")
    parser.add_argument("--each", type=int, default=20, help="how many items of each set")
    parser.add_argument("--only", help="some of the sets, separated by commas")
    parser.add_argument("--metric", help="one of a set's ways to ask, as it is written in this file")
    parser.add_argument("--cache", type=Path, help="a folder for answered calls")
    parser.add_argument("--concurrency", type=int, default=3, help="calls in flight")
    given = parser.parse_args()
    CARDS.mkdir(exist_ok=True)
    judge = judge_by_name(given.judge, options=read_options(given.judge_option))
    for name in given.only.split(",") if given.only else SETS:
        rows = list(SETS[name].rows(SHARED, given.each))
        drawn, embedded = SETS[name], as_judge("embedded")
        # a cascade that is never sure knows all bands; one that always is takes no verdict of the model
        asked = [(judge, metric) for metric in drawn.metrics]
        asked += [(Cascade(embedded, judge, unsure=(0.5, 0.5)), metric) for metric in drawn.splits]
        asked += [(Cascade(embedded, judge, unsure=(0, 1)), metric) for metric in [drawn.cascade] if metric]
        asked += [(embedded, drawn.metrics[0])]
        for one, metric in asked:
            if given.metric in (None, metric):
                _measure(one, rows, metric, name=name, cache=given.cache, concurrency=given.concurrency)


def _measure(judge: Judge, rows: list[Row], metric: str, *, name: str, **settings: Any) -> None:
    started = perf_counter()
    try:
        card = probe_on(judge, rows, metric=metric, name=name, timeout=1500, attempts=2, **settings)
    except RagMetricsError as error:
        print(f"{name}, {metric}: {error}", flush=True)
        return
    keep_card(CARDS, card)
    print(f"{metric}: {card.line}; {perf_counter() - started:.0f} s", flush=True)


if __name__ == "__main__":
    main()
