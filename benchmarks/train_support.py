"""Train the embedded judge's support model again, from the pool of labelled claims alone.

The pool is `data/train` in `shared/` beside the checkout, or in the folder that RAGMETRICS_SHARED names.
Printed are, for each set of the pool, the area under the curve and the balanced accuracy when that set is
left out of the training, beside plain word overlap. `benchmarks.train_veto` follows: what speaks against a
statement, and the threshold. With `--write` the weights in the package are replaced; with `--check` they are
compared with what would be written, byte for byte and decision for decision on the claims of the pool.

usage: python -m benchmarks.train_support [--write | --check]
"""

import argparse
import json
import math
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple
from zlib import crc32

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score, roc_auc_score

from benchmarks.false_twins import twins_of
from ragmetrics_core.models._support.evidence import IndexedTexts, read_evidence
from ragmetrics_core.models._support.features import FEATURES, VECTOR_FEATURES, compare
from ragmetrics_core.models._support.places import UNSEEN
from ragmetrics_core.models._support.trees import SCALE, Weights, trees_of
from ragmetrics_core.models._support.words import read_sentences
from ragmetrics_core.models._wordllama import WordVectors

SHARED: Final = Path(os.environ.get("RAGMETRICS_SHARED", "../shared"))
PACKAGE: Final = Path(__file__).parents[1] / "ragmetrics_core/models/_support"

# Answers of systems over retrieved passages are what is judged; dialogues with a persona are far from that.
SHARES: Final = {"ragtruth_sentences": 12.0, "twins": 3.0, "begin": 0.5, "true_dialfact": 0.5, "true_q2": 0.5}
DEPTH: Final = 5
SEEDS: Final = (0, 1)
FEWEST_TEXTS: Final = 8
# A claim needs this coverage for twins: what makes them false must be the change.
COVERED: Final = 0.9
# More of these can only help a statement, or only hurt it.
UP: Final = frozenset(
    {
        *(
            "all",
            "as_written",
            "alike",
            "best",
            "two",
            "three",
            "pairs",
            "triples",
            "longest_run",
            "neighbours",
        ),
        *("function_words", "soft_all", "soft_least", "soft_near", "soft_near_least", "nearest"),
    }
)
DOWN: Final = frozenset(
    {
        *("absent", "absent_most", "absent_sum", "numbers_absent", "numbers_far", "numbers_not_best"),
        *("other_unit", "names_absent", "names_far", "negated", "opposites", "replaced", "replaced_words"),
    }
)


# The trees alone learn the style of the sets. A weighted sum of these few does as well on sets that it never
# saw, so that the mean of both is used.
LINEAR: Final = ("all", "three", "pairs", "as_written", "absent_most", "soft_near")


class Pool(NamedTuple):
    """The pool as numbers: a row of features, the label and the set of each claim, and whether it is a twin.

    True claims stand among the twins once more, beside their false ones.
    """

    rows: NDArray[np.float64]
    labels: NDArray[np.bool_]
    sets: NDArray[np.str_]
    twins: NDArray[np.bool_]

    def where(self, chosen: NDArray[np.bool_]) -> "Pool":
        """Some of its claims."""
        return Pool(self.rows[chosen], self.labels[chosen], self.sets[chosen], self.twins[chosen])


def read_pool() -> list[dict[str, Any]]:
    """The claims of all sets, in the order of their files."""
    files = sorted((SHARED / "data/train").glob("*.jsonl"))
    if not files:
        raise SystemExit(f"no pool in {SHARED / 'data/train'}: set RAGMETRICS_SHARED")
    return [json.loads(line) for file in files for line in file.open(encoding="utf-8")]


def is_permissive(claim: dict[str, Any]) -> bool:
    """Whether the licence of a claim asks nothing of what is made with it but to name it."""
    return "sharing" not in claim["licence"].casefold()


def rarity_of(claims: Sequence[dict[str, Any]]) -> dict[str, int]:
    """How seldom the distinct evidence texts have each word, for words that are in enough of them."""
    texts = {" ".join(claim["contexts"]) for claim in claims}
    counts: Counter[str] = Counter()
    for text in texts:
        sentences = read_sentences(text)
        counts.update(
            {token.key for each in sentences for token in each.tokens if token.kind in {"word", "name"}}
        )
    common = {key: count for key, count in sorted(counts.items()) if count >= FEWEST_TEXTS}
    return {key: round(100 * (math.log((len(texts) + 1) / (count + 1)) + 1)) for key, count in common.items()}


def pool_of(claims: Sequence[dict[str, Any]], rarity: dict[str, int]) -> Pool:
    """Compare each claim with its evidence, and of some true ones that say little else their false twins."""
    vectors = WordVectors()
    rows: list[tuple[float, ...]] = []
    about: list[tuple[bool, str, bool]] = []
    for claim in claims:
        evidence = read_evidence(tuple(claim["contexts"]))

        def values(
            text: str, evidence: IndexedTexts = evidence, question: str = claim["question"] or ""
        ) -> tuple[float, ...]:
            return compare(text, evidence, rarity=rarity, question=question, vectors=vectors).values

        own = values(claim["claim"])
        rows.append(own)
        about.append((claim["supported"], claim["source"], False))
        draw = crc32(claim["claim"].encode()) // 11
        may_have_twins = claim["supported"] and own[0] >= COVERED and draw % 3 == 0
        twins = list(twins_of(claim["claim"], claim["contexts"])) if may_have_twins else []
        if twins:
            rows += [own, values(twins[draw // 3 % len(twins)].text)]
            about += [(True, claim["source"], True), (False, claim["source"], True)]
    labels, sets, is_twin = map(np.array, zip(*about, strict=True))
    return Pool(np.array(rows), labels, sets, is_twin)


def weights_of(pool: Pool) -> NDArray[np.float64]:
    """Each set has its share, each of its two classes half of it; the twins of all are one set."""
    weights = np.zeros(len(pool.labels))
    sets = np.where(pool.twins, "twins", pool.sets)
    for name in np.unique(sets):
        for label in (False, True):
            here = (sets == name) & (pool.labels == label)
            weights[here] = SHARES.get(str(name), 1.0) / max(int(here.sum()), 1)
    return np.asarray(weights / weights.mean())


class Fitted(NamedTuple):
    """Trees, one model for each seed, and a weighted sum; the log-odds are the mean of both."""

    names: tuple[str, ...]
    trees: list[HistGradientBoostingClassifier]
    linear: dict[str, float]
    base: float

    def log_odds(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        """The log-odds of each row."""
        trees = np.mean([model.decision_function(rows[:, : len(self.names)]) for model in self.trees], axis=0)
        columns = [self.names.index(name) for name in self.linear]
        linear = rows[:, columns] @ np.array(list(self.linear.values()))
        return np.asarray((trees + self.base + linear) / 2)


def fit(pool: Pool, names: Sequence[str], seeds: Sequence[int] = SEEDS) -> Fitted:
    """Fit both parts; the names are those of the first columns."""
    weights = weights_of(pool)
    signs = [1 if name in UP else -1 if name in DOWN else 0 for name in names]
    models = []
    for seed in seeds:
        model = HistGradientBoostingClassifier(
            max_iter=100,
            learning_rate=0.08,
            max_depth=DEPTH,
            max_leaf_nodes=12,
            min_samples_leaf=80,
            l2_regularization=5.0,
            max_features=0.4,
            monotonic_cst=signs,
            random_state=seed,
        )
        models.append(model.fit(pool.rows[:, : len(names)], pool.labels, sample_weight=weights))
    chosen = [name for name in LINEAR if name in names]
    rows = pool.rows[:, [names.index(name) for name in chosen]]
    spread = rows.std(axis=0)
    regression = LogisticRegression(C=0.02, max_iter=1000).fit(
        rows / spread, pool.labels, sample_weight=weights
    )
    slopes = regression.coef_[0] / spread
    linear = dict(zip(chosen, map(float, slopes), strict=True))
    return Fitted(tuple(names), models, linear, float(regression.intercept_[0]))


def left_out(pool: Pool, names: Sequence[str]) -> tuple[float, float]:
    """Print what a model is worth on each set that it never saw.

    Gives slope and shift of the line from its log-odds to the probabilities in those sets.
    """
    odds = np.zeros(len(pool.labels))
    print(f"{'set left out':24}{'n':>6}{'area':>7}{'overlap':>9}{'balanced accuracy':>19}")
    for name in np.unique(pool.sets):
        others = fit(pool.where(pool.sets != name), names)
        odds[pool.sets == name] = others.log_odds(pool.rows[pool.sets == name])
        chosen = (pool.sets == name) & ~pool.twins
        own, here = pool.where(chosen), odds[chosen]
        area, overlap = roc_auc_score(own.labels, here), roc_auc_score(own.labels, own.rows[:, 0])
        print(
            f"{name:24}{len(own.labels):6}{area:7.3f}{overlap:9.3f}"
            f"{balanced_accuracy_score(own.labels, here > 0):19.3f}",
            flush=True,
        )
    area = roc_auc_score(pool.labels[pool.twins], odds[pool.twins])
    print(f"{'false twins':24}{pool.twins.sum():6}{area:7.3f}")
    line = LogisticRegression(C=1e6).fit(odds[:, None], pool.labels, sample_weight=weights_of(pool))
    return float(line.coef_[0, 0]), float(line.intercept_[0])


def exported(fitted: Fitted) -> dict[str, Any]:
    """The trees as complete ones of one depth, and the sum, in whole numbers."""
    base = float(np.mean([model._baseline_prediction for model in fitted.trees])) + fitted.base
    linear = {name: round(SCALE * slope / 2) for name, slope in fitted.linear.items()}
    trees = exported_trees(fitted.trees, 2 * len(fitted.trees))
    return {"base": round(SCALE * base / 2), "linear": linear, "trees": trees}


def exported_trees(models: Sequence[HistGradientBoostingClassifier], share: int) -> dict[str, Any]:
    """Trees of several models as complete ones of one depth; each leaf is divided by the share."""
    features: list[list[int]] = []
    thresholds: list[list[float]] = []
    leaves: list[list[int]] = []
    for model in models:
        for (predictor,) in model._predictors:
            tree = _complete(predictor.nodes, share)
            features.append(tree[0])
            thresholds.append(tree[1])
            leaves.append(tree[2])
    return {"features": features, "thresholds": thresholds, "leaves": leaves}


def _complete(nodes: Any, share: int) -> tuple[list[int], list[float], list[int]]:
    """One tree: an early leaf stands in all places below it."""
    features, thresholds = [0] * (2**DEPTH - 1), [0.0] * (2**DEPTH - 1)
    leaves = [0] * 2**DEPTH

    def place(node: int, at: int, level: int) -> None:
        here = nodes[node]
        if level == DEPTH:
            leaves[at - (2**DEPTH - 1)] = round(SCALE * float(here["value"]) / share)
            return
        if not here["is_leaf"]:
            features[at] = int(here["feature_idx"])
            thresholds[at] = round(float(here["num_threshold"]), 5)
        for side, child in enumerate(("left", "right"), start=1):
            place(node if here["is_leaf"] else int(here[child]), 2 * at + side, level + 1)

    place(0, 0, 0)
    return features, thresholds, leaves


def weights_text(fitted: Fitted, slope: float, shift: float) -> str:
    """One file of weights."""
    return line_of(
        {
            "features": list(fitted.names),
            "slope": round(slope, 3),
            "threshold": round(-SCALE * shift / slope),
            **exported(fitted),
        }
    )


def line_of(data: Mapping[str, Any]) -> str:
    """Weights on one line."""
    return json.dumps(data, separators=(",", ":")) + "\n"


def rarity_text(rarity: Mapping[str, int]) -> str:
    """The table of words: those that are equally telling share a line."""
    by_value: dict[int, list[str]] = {}
    for word, value in rarity.items():
        by_value.setdefault(value, []).append(word)
    lines = {str(value): " ".join(words) for value, words in sorted(by_value.items())}
    return json.dumps(lines, ensure_ascii=False, indent=0) + "\n"


def decisions(text: str, rows: NDArray[np.float64]) -> NDArray[np.bool_]:
    """What the weights of a file decide on rows of features."""
    data = json.loads(text)
    linear = {data["features"].index(name): slope for name, slope in data["linear"].items()}
    weights = Weights(
        tuple(data["features"]),
        {},
        trees_of(data["trees"]),
        linear,
        data["base"],
        data["threshold"],
        data["slope"],
    )
    return np.array([weights.log_odds(row) >= weights.threshold for row in rows.tolist()])


def differing(texts: Mapping[str, str], folder: Path = PACKAGE) -> list[str]:
    """The files of a folder that are not there or say something else."""
    return [
        name
        for name, text in texts.items()
        if not (folder / name).is_file() or (folder / name).read_text(encoding="utf-8") != text
    ]


def print_differences(texts: Mapping[str, str], rows: NDArray[np.float64]) -> bool:
    """Print which files of the package are not those that came out; gives whether there are any."""
    differ = differing(texts)
    for name in differ:
        line = f"{name} differs from the package"
        if name in {"plain.json", "vectors.json"} and (PACKAGE / name).is_file():
            before = decisions((PACKAGE / name).read_text(encoding="utf-8"), rows)
            line += f": it decides {(before == decisions(texts[name], rows)).mean():.2%} of the claims alike"
        print(line)
    if not differ:
        print("the weights are those of the package")
    return bool(differ)


def main() -> None:
    """Train with and without word vectors."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--write", action="store_true", help="replace the weights in the package")
    what.add_argument("--check", action="store_true", help="exit with 1 when the weights differ")
    options = parser.parse_args()
    from benchmarks import train_veto

    claims = read_pool()
    permissive = [claim for claim in claims if is_permissive(claim)]
    rarity = rarity_of(permissive)
    pool = pool_of(permissive, rarity)
    print(f"{len(permissive)} permissive claims of {len(claims)}, {len(rarity)} words, others count {UNSEEN}")
    texts = {"rarity.json": rarity_text(rarity)}
    for name, names in (("plain", FEATURES), ("vectors", FEATURES + VECTOR_FEATURES)):
        print(f"\n{name}: {len(names)} features")
        slope, shift = left_out(pool, names)
        print(f"threshold {-shift / slope:+.2f}, slope {slope:.2f}")
        texts[f"{name}.json"] = weights_text(fit(pool, names), slope, shift)
    for name in ("plain", "vectors"):
        texts[f"veto_{name}.json"] = train_veto.train(permissive, rarity, name)
    if options.write:
        for name, text in texts.items():
            (PACKAGE / name).write_text(text, encoding="utf-8")
    print()
    if print_differences(texts, pool.rows[~pool.twins]) and options.check:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
