"""What the embedded judge is worth on texts that people labelled: the cards that the package carries.

Run: make truth        (or: python -m benchmarks.truth [--only ragtruth,bump] [--judge NAME] [--out FILE])

`--without-vectors` measures the embedded judge as it is without the extra; its cards stand beside the others.
Cards of a judge that was there before, with other weights, are dropped.

The sets are looked for in $RAGMETRICS_SHARED/data or ../shared/data beside the checkout. Cards of sets that
are not there stay as they are.
"""

import argparse
import sys
from os import environ
from pathlib import Path
from time import perf_counter
from typing import Any

if not __package__:  # run as a file: the folder above must be importable
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from ragmetrics_core.errors import RagMetricsError
from ragmetrics_core.models import as_judge
from ragmetrics_core.probe import probe_on, read_cards
from ragmetrics_core.probe._people_card import write_cards
from ragmetrics_embedded._support.model import VERSION

ROOT = Path(__file__).resolve().parent.parent
SHARED = Path(environ.get("RAGMETRICS_SHARED") or ROOT.parent / "shared") / "data"
CARRIED = ROOT / "ragmetrics_core" / "probe" / "library" / "people.json"

# What cannot be found by a column's name. Labels of halueval_qa were constructed, not given by people.
SETS: dict[str, dict[str, Any]] = {
    "ragtruth": {},
    "faithdial_audit": {"label": "label_begin_set"},
    "summedits": {},
    "bump": {"by": "error_type"},
    "halueval_qa": {},
    "wice_claims": {},
    "attributionbench": {"by": "source"},
    "factscore": {},
    "mtrag_human": {"label": "human_ratings.faithfulness"},
    "evouna": {"by": "source"},
    "openqa_nq301": {},
    "ragchecker_pairs": {"label": "preference_overall"},
    "alce_utility": {"question": "relevant", "by": "source", "embedder": "embedded"},
}


def _weights(judge: str) -> str:
    """The version of the weights in an identity: "support.5" of "embedded:support.5+vectors"."""
    return judge.partition(":")[2].partition(",")[0].removesuffix("+vectors")


def main() -> None:
    """Measure, and write the cards."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--judge", default="embedded", help="the judge's name")
    parser.add_argument("--only", help="some of the sets, separated by commas")
    parser.add_argument("--limit", type=int, help="at most so many items of each set")
    parser.add_argument("--out", type=Path, default=CARRIED, help="the file of the cards")
    parser.add_argument("--without-vectors", action="store_true", help="as without the extra `embedded`")
    given = parser.parse_args()
    if given.without_vectors:
        sys.modules["wordllama"] = None  # type: ignore[assignment]  # as where it is not installed
    judge = as_judge(given.judge)
    names = given.only.split(",") if given.only else list(SETS)
    # cards of the weights that went before are of no use to anybody
    cards = {card.key: card for card in read_cards(given.out) if _weights(card.judge) == VERSION}
    measured = 0
    for name in names:
        path = SHARED / name / f"{name}.jsonl"
        if not path.is_file():
            print(f"{path} is missing: its card stays as it is")
            continue
        started = perf_counter()
        try:
            card = probe_on(judge, path, limit=given.limit, **SETS.get(name, {}))
        except RagMetricsError as error:
            sys.exit(f"{name}: {error}")
        cards = {
            key: each
            for key, each in cards.items()
            if (each.judge, each.set_name) != (card.judge, card.set_name)
        }
        cards[card.key] = card
        measured += 1
        # after each set, so that what was measured is kept however the run ends
        order = list(SETS)
        write_cards(
            given.out, sorted(cards.values(), key=lambda card: (card.judge, order.index(card.set_name)))
        )
        print(f"{card.line}; {perf_counter() - started:.0f} s", flush=True)
    print(f"{measured} sets measured, {len(cards)} cards in {given.out}")


if __name__ == "__main__":
    main()
