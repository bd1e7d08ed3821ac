"""Train the embedded judge's support model again, from the pool of labelled claims alone.

The pool is `data/train` in `shared/` beside the checkout, or in the folder that RAGMETRICS_SHARED names.
Two parts are trained. What speaks for a statement is learned from the claims; what speaks against it from
false twins: true claims, and short sentences of the evidence itself, in which one thing was changed. The
threshold is the middle of those with the best balanced accuracy in the mean of the pool's sets, each left out
of the training of both parts. Printed are these figures beside plain word overlap, and how many twins of each
kind are refused by a model that never saw their set. With `--write` the weights in the package are replaced;
with `--check` they are compared with what would be written.

usage: python -m benchmarks.train_support [--write | --check] [--only plain|vectors]
"""

import argparse
import json
import math
import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple
from zlib import crc32

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score, roc_auc_score

from benchmarks.twins import Kin, twins_of
from ragmetrics_core.models._wordllama import WordVectors
from ragmetrics_core.parsers import split_sentences
from ragmetrics_embedded._support import trees
from ragmetrics_embedded._support.alignment import CONFLICTS
from ragmetrics_embedded._support.evidence import Vectors, read_evidence
from ragmetrics_embedded._support.features import FEATURES, VECTOR_FEATURES, compare
from ragmetrics_embedded._support.trees import SCALE, WEIGHED, penalty, weights_of
from ragmetrics_embedded._support.words import read_sentences

SHARED: Final = Path(os.environ.get("RAGMETRICS_SHARED", "../shared"))
PACKAGE: Final = Path(trees.__file__).parent

# Answers of systems over retrieved passages are what is judged; dialogues with a persona are far from that.
SHARES: Final = {"ragtruth_sentences": 12.0, "begin": 0.5, "true_dialfact": 0.5, "true_q2": 0.5}
# How much twins count beside the claims in the first part, where a set counts 1.
TWINS: Final = 3.0
# How much short sentences and their twins count beside those of claims, in the second part.
SHORT: Final = 0.5
# How much of the second part's true statements are claims as they came, beside those whose twins are in it.
NATURAL: Final = 0.75
# A kind with fewer twins than this counts for less.
FULL_KIND: Final = 300
# Thresholds with a mean balanced accuracy that is lower by less than this are as good.
AS_GOOD: Final = 0.005
DEPTH: Final = 5
SEEDS: Final = (0, 1)
FEWEST_TEXTS: Final = 8
# A claim needs this coverage for twins: what makes them false must be the change.
COVERED: Final = 0.6
# Twins take words of one kind from those that so many claims use.
FEWEST_USES: Final = 5
# More of these can only help a statement, or only hurt it.
UP: Final = frozenset(
    [
        "all",
        "as_written",
        "best",
        "two",
        "three",
        "pairs",
        "function_words",
        "soft_all",
        "soft_least",
        "soft_near",
        "soft_near_least",
        "nearest",
    ]
)
DOWN: Final = frozenset(
    [
        "absent_most",
        "absent_sum",
        "numbers_absent",
        "numbers_not_best",
        "names_absent",
        "names_far",
        "negated",
        "opposites",
        "replaced",
        "replaced_words",
    ]
)
# How a set is written is no conflict.
STYLE: Final = frozenset({"about_texts", "from_question", "all_new", "words", "sentences"})
# The trees alone learn the style of the sets. A weighted sum of these few does as well on sets that it never
# saw, so that the mean of both is used.
LINEAR: Final = ("all", "three", "pairs", "as_written", "absent_most", "soft_near")


class Pool(NamedTuple):
    """Claims and twins as numbers: a row of features, the label, the set, the part in a pair, the kind.

    `parts` is "claim" for a claim as it came, "twin" for a sentence of one and its false twins, "short" for a
    sentence of the evidence and its twins; `kinds` says of a false twin what was changed, and is "" else.
    """

    rows: NDArray[np.float64]
    labels: NDArray[np.bool_]
    sets: NDArray[np.str_]
    parts: NDArray[np.str_]
    kinds: NDArray[np.str_]

    def where(self, chosen: NDArray[np.bool_]) -> "Pool":
        """Some of its rows."""
        rows, labels, sets, parts, kinds = self
        return Pool(rows[chosen], labels[chosen], sets[chosen], parts[chosen], kinds[chosen])


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


def kin_of(claims: Sequence[dict[str, Any]]) -> Kin:
    """The words that the claims use, from which twins take one of the same kind."""
    uses = Counter(word for claim in claims for word in set(re.findall(r"\b[a-z]{4,}\b", claim["claim"])))
    return Kin(sorted(word for word, count in uses.items() if count >= FEWEST_USES), WordVectors())


def pool_of(
    claims: Sequence[dict[str, Any]], rarity: dict[str, int], kin: Kin, vectors: Vectors | None
) -> Pool:
    """Compare each claim with its evidence, and the twins of true ones and of short sentences."""
    rows: list[tuple[float, ...]] = []
    about: list[tuple[bool, str, str, str]] = []
    seen: set[str] = set()
    for claim in claims:
        contexts, source = claim["contexts"], claim["source"]
        for text, label, part, kind in _statements(claim, kin, seen):
            question = "" if part == "short" else claim["question"] or ""
            evidence = read_evidence(tuple(contexts))
            row = compare(text, evidence, rarity=rarity, question=question, vectors=vectors).values
            if part == "twin" and label and row[0] < COVERED:
                break
            rows.append(row)
            about.append((label, source, part, kind))
    labels, sets, parts, kinds = map(np.array, zip(*about, strict=True))
    return Pool(np.array(rows), labels, sets, parts, kinds)


def _statements(claim: dict[str, Any], kin: Kin, seen: set[str]) -> Iterator[tuple[str, bool, str, str]]:
    """A claim, a short sentence of its evidence with its twins, a sentence of its own with its twins."""
    text, contexts = claim["claim"], claim["contexts"]
    draw = crc32(text.encode()) // 11
    yield text, claim["supported"], "claim", ""
    sentences = [sentence for context in contexts for sentence in split_sentences(context)]
    short = [
        sentence
        for sentence in sentences
        if 4 <= len(sentence.split()) <= 14 and sentence[0].isupper() and sentence not in seen
    ]
    if short and draw % 4 == 0:
        sentence = short[draw // 5 % len(short)]
        seen.add(sentence)
        if twins := list(twins_of(sentence, contexts, kin)):
            yield sentence, True, "short", ""
            yield from ((twin.text, False, "short", twin.kind) for twin in twins)
    if claim["supported"]:
        own = split_sentences(text) or [text]
        sentence = own[draw % len(own)]
        if twins := list(twins_of(sentence, contexts, kin)):
            yield sentence, True, "twin", ""
            chosen = {twins[draw // step % len(twins)].kind for step in (3, 7, 13)}
            yield from ((twin.text, False, "twin", twin.kind) for twin in twins if twin.kind in chosen)


def claim_weights(pool: Pool) -> NDArray[np.float64]:
    """Each set has its share, each of its two classes half of it; the twins of all claims are one set."""
    weights = np.zeros(len(pool.labels))
    sets = np.where(pool.parts == "twin", "", pool.sets)
    for name in np.unique(sets[pool.parts != "short"]):
        for label in (False, True):
            here = (sets == name) & (pool.labels == label) & (pool.parts != "short")
            share = SHARES.get(str(name), 1.0) if name else TWINS
            weights[here] = share / max(int(here.sum()), 1)
    return np.asarray(weights / weights[weights > 0].mean())


def twin_weights(pool: Pool) -> NDArray[np.float64]:
    """False twins count as much as true statements; each kind the same, and each set its share."""
    weights = np.zeros(len(pool.labels))
    false = 0.0
    for part, share in (("twin", 1.0), ("short", SHORT)):
        own = pool.parts == part
        for kind in np.unique(pool.kinds[own & ~pool.labels]):
            here = own & ~pool.labels & (pool.kinds == kind)
            weights[here] = share * min(1.0, here.sum() / FULL_KIND) / here.sum()
        half = float(weights[own].sum())
        weights[own & pool.labels] = (1 - NATURAL) * half / max(int((own & pool.labels).sum()), 1)
        false += half
    natural = (pool.parts == "claim") & pool.labels
    shares = {str(name): SHARES.get(str(name), 1.0) for name in np.unique(pool.sets[natural])}
    for name, share in shares.items():
        here = natural & (pool.sets == name)
        weights[here] = NATURAL * false * share / sum(shares.values()) / here.sum()
    return np.asarray(weights / weights[weights > 0].mean())


class Fitted(NamedTuple):
    """Both parts over the features of `names`.

    The log-odds for a statement are the mean of trees, one model for each seed, and of a weighted sum; what
    the veto finds is taken from them.
    """

    names: tuple[str, ...]
    support: list[HistGradientBoostingClassifier]
    linear: dict[str, float]
    base: float
    veto: HistGradientBoostingClassifier

    def log_odds(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        """The log-odds of each row."""
        columns = support_columns(self.names)
        trees = np.mean([model.decision_function(rows[:, columns]) for model in self.support], axis=0)
        chosen = [self.names.index(name) for name in self.linear]
        linear = rows[:, chosen] @ np.array(list(self.linear.values()))
        against = self.veto.decision_function(rows[:, veto_columns(self.names)])
        weighed = (rows[:, self.names.index(name)] for name in WEIGHED)
        return np.asarray((trees + self.base + linear) / 2 - penalty(against, *weighed))


def support_columns(names: Sequence[str]) -> list[int]:
    """The features that the first part looks at."""
    return [place for place, name in enumerate(names) if name not in CONFLICTS]


def veto_columns(names: Sequence[str]) -> list[int]:
    """The features that the second part looks at."""
    return [place for place, name in enumerate(names) if name not in STYLE]


def fit(pool: Pool, names: Sequence[str], seeds: Sequence[int] = SEEDS) -> Fitted:
    """Fit both parts; the names are those of the columns."""
    columns, weights = support_columns(names), claim_weights(pool)
    used = weights > 0
    signs = [1 if names[place] in UP else -1 if names[place] in DOWN else 0 for place in columns]
    models = [
        _trees(12, seed, signs).fit(
            pool.rows[used][:, columns], pool.labels[used], sample_weight=weights[used]
        )
        for seed in seeds
    ]
    chosen = [name for name in LINEAR if name in names]
    rows = pool.rows[used][:, [names.index(name) for name in chosen]]
    spread = rows.std(axis=0)
    regression = LogisticRegression(C=0.02, max_iter=1000).fit(
        rows / spread, pool.labels[used], sample_weight=weights[used]
    )
    linear = dict(zip(chosen, map(float, regression.coef_[0] / spread), strict=True))
    against = twin_weights(pool)
    used = against > 0
    veto = _trees(16, 0).fit(
        pool.rows[used][:, veto_columns(names)], ~pool.labels[used], sample_weight=against[used]
    )
    return Fitted(tuple(names), models, linear, float(regression.intercept_[0]), veto)


def _trees(leaves: int, seed: int, signs: Sequence[int] | None = None) -> HistGradientBoostingClassifier:
    return HistGradientBoostingClassifier(
        max_iter=100,
        learning_rate=0.08,
        max_depth=DEPTH,
        max_leaf_nodes=leaves,
        min_samples_leaf=80,
        l2_regularization=5.0,
        max_features=0.4,
        monotonic_cst=signs,
        random_state=seed,
    )


class Line(NamedTuple):
    """From log-odds to decisions: from the threshold on supported; how fast the probability grows there."""

    threshold: float
    slope: float


def left_out(pool: Pool, names: Sequence[str]) -> Line:
    """Print what the model is worth on each set that it never saw, and find the threshold on these sets."""
    odds = np.zeros(len(pool.labels))
    sets = [str(name) for name in np.unique(pool.sets)]
    for name in sets:
        here = pool.sets == name
        odds[here] = fit(pool.where(~here), names, seeds=SEEDS[:1]).log_odds(pool.rows[here])
    natural = pool.parts == "claim"
    chosen = [natural & (pool.sets == name) for name in sets]

    def mean_accuracy(threshold: float) -> float:
        return float(
            np.mean([balanced_accuracy_score(pool.labels[own], odds[own] >= threshold) for own in chosen])
        )

    # accuracy hardly changes around its top: the middle of what is as good, so that no single claim decides
    accuracies = {step / 20: mean_accuracy(step / 20) for step in range(-30, 21)}
    good = [at for at, accuracy in accuracies.items() if accuracy >= max(accuracies.values()) - AS_GOOD]
    threshold = round(float(np.mean(good)), 2)
    print(f"{'set left out':24}{'n':>6}{'area':>7}{'overlap':>9}{'balanced accuracy':>19}")
    for name, own in zip(sets, chosen, strict=True):
        labels = pool.labels[own]
        areas = [roc_auc_score(labels, values[own]) for values in (odds, pool.rows[:, 0])]
        accuracy = balanced_accuracy_score(labels, odds[own] >= threshold)
        print(f"{name:24}{len(labels):6}{areas[0]:7.3f}{areas[1]:9.3f}{accuracy:19.3f}")
    accuracy = mean_accuracy(threshold)
    print(f"mean balanced accuracy {accuracy:.3f} at {threshold:+.2f}, of {good[0]:+} to {good[-1]:+}")
    print(f"{'twins':24}{'n':>6}{'refused':>9}{'short':>9}")
    for kind in np.unique(pool.kinds[~natural]):
        both = [
            (pool.parts == part) & (pool.kinds == kind) & (pool.labels == (not kind))
            for part in ("twin", "short")
        ]
        shares = [(odds[own] < threshold).mean() if own.any() else float("nan") for own in both]
        print(f"{kind or '(true)':24}{both[0].sum():6}{shares[0]:9.2f}{shares[1]:9.2f}")
    line = LogisticRegression(C=1e6).fit(
        (odds - threshold)[natural, None],
        pool.labels[natural],
        sample_weight=claim_weights(pool)[natural],
    )
    print(f"threshold {threshold:+.2f}, slope {line.coef_[0, 0]:.2f}", flush=True)
    return Line(threshold, float(line.coef_[0, 0]))


def exported_trees(
    models: Sequence[HistGradientBoostingClassifier], columns: Sequence[int], share: int, base: float
) -> dict[str, Any]:
    """Trees of several models as complete ones of one depth; each leaf is divided by the share."""
    made = [
        _complete(predictor.nodes, share, columns) for model in models for (predictor,) in model._predictors
    ]
    features, thresholds, leaves = zip(*made, strict=True)
    return {
        "base": round(SCALE * base),
        "features": list(features),
        "thresholds": list(thresholds),
        "leaves": list(leaves),
    }


def _complete(nodes: Any, share: int, columns: Sequence[int]) -> tuple[list[int], list[float], list[int]]:
    """One tree: an early leaf stands in all places below it."""
    features, thresholds = [0] * (2**DEPTH - 1), [0.0] * (2**DEPTH - 1)
    leaves = [0] * 2**DEPTH

    def place(node: int, at: int, level: int) -> None:
        here = nodes[node]
        if level == DEPTH:
            leaves[at - (2**DEPTH - 1)] = round(SCALE * float(here["value"]) / share)
            return
        if not here["is_leaf"]:
            features[at] = columns[int(here["feature_idx"])]
            thresholds[at] = round(float(here["num_threshold"]), 5)
        for side, child in enumerate(("left", "right"), start=1):
            place(node if here["is_leaf"] else int(here[child]), 2 * at + side, level + 1)

    place(0, 0, 0)
    return features, thresholds, leaves


def weights_text(fitted: Fitted, line: Line) -> str:
    """One file of weights, in whole numbers."""
    mean = float(np.mean([_baseline(model) for model in fitted.support]))
    data = {
        "features": list(fitted.names),
        "slope": round(line.slope, 3),
        "threshold": round(SCALE * line.threshold),
        "linear": {name: round(SCALE * slope / 2) for name, slope in fitted.linear.items()},
        "support": exported_trees(
            fitted.support, support_columns(fitted.names), 2 * len(fitted.support), (mean + fitted.base) / 2
        ),
        "veto": exported_trees([fitted.veto], veto_columns(fitted.names), 1, _baseline(fitted.veto)),
    }
    return json.dumps(data, separators=(",", ":")) + "\n"


def _baseline(model: HistGradientBoostingClassifier) -> float:
    return float(np.asarray(model._baseline_prediction).item())


def rarity_text(rarity: Mapping[str, int]) -> str:
    """The table of words: those that are equally telling share a line."""
    by_value: dict[int, list[str]] = {}
    for word, value in rarity.items():
        by_value.setdefault(value, []).append(word)
    lines = {str(value): " ".join(words) for value, words in sorted(by_value.items())}
    return json.dumps(lines, ensure_ascii=False, indent=0) + "\n"


def decisions(text: str, rows: NDArray[np.float64]) -> NDArray[np.bool_]:
    """What the weights of a file decide on rows of features."""
    weights = weights_of(json.loads(text))
    return np.array([weights.log_odds(row) >= weights.threshold for row in rows.tolist()])


def differing(texts: Mapping[str, str], folder: Path = PACKAGE) -> list[str]:
    """The files of a folder that are not there or say something else."""
    return [
        name
        for name, text in texts.items()
        if not (folder / name).is_file() or (folder / name).read_text(encoding="utf-8") != text
    ]


def main() -> None:
    """Train with and without word vectors."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--write", action="store_true", help="replace the weights in the package")
    what.add_argument("--check", action="store_true", help="exit with 1 when the weights differ")
    parser.add_argument("--only", choices=["plain", "vectors"], help="one of the two")
    options = parser.parse_args()
    claims = read_pool()
    permissive = [claim for claim in claims if is_permissive(claim)]
    rarity, kin = rarity_of(permissive), kin_of(permissive)
    print(f"{len(permissive)} permissive claims of {len(claims)}, {len(rarity)} words")
    texts = {"rarity.json": rarity_text(rarity)}
    whole = pool_of(permissive, rarity, kin, WordVectors())
    everything = (*FEATURES, *VECTOR_FEATURES, *CONFLICTS)
    for name, names in (("plain", (*FEATURES, *CONFLICTS)), ("vectors", everything)):
        if options.only not in (None, name):
            continue
        pool = whole if name == "vectors" else pool_of(permissive, rarity, kin, None)
        counts = Counter(pool.parts.tolist())
        print(f"\n{name}: {len(names)} features of {dict(counts)}")
        line = left_out(pool, names)
        texts[f"{name}.json"] = weights_text(fit(pool, names), line)
    if options.write:
        for name, text in texts.items():
            (PACKAGE / name).write_text(text, encoding="utf-8")
    differ = differing(texts)
    print(*(f"{name} differs from the package" for name in differ), sep="\n")
    if differ and options.check:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
