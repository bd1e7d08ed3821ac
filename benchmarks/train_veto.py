"""Train the veto of the support model again: what speaks against a statement, and the threshold with it.

It learns from false twins of true claims of the pool, beside these claims and others as they came. The
threshold is the one with the best balanced accuracy in the mean of the pool's sets, each left out of the
training of both parts. Printed are the figures of each set, and for each kind of twin how many are refused by
a model that never saw the set. `python -m benchmarks.train_support` runs this too; it takes some minutes.

usage: python -m benchmarks.train_veto [--write] [--only plain|vectors]
"""

import argparse
import re
from collections import Counter
from collections.abc import Sequence
from typing import Any, Final, NamedTuple
from zlib import crc32

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score, roc_auc_score

from benchmarks import train_support as first
from benchmarks.twins import Kin, all_twins_of
from ragmetrics_core.models._support.alignment import Alignment
from ragmetrics_core.models._support.conflicts import CONFLICTS, conflicts_of
from ragmetrics_core.models._support.evidence import IndexedTexts, Vectors, read_evidence
from ragmetrics_core.models._support.features import FEATURES, VECTOR_FEATURES, compare, look_up
from ragmetrics_core.models._support.trees import SCALE
from ragmetrics_core.models._support.veto import penalty
from ragmetrics_core.models._wordllama import WordVectors
from ragmetrics_core.parsers import split_sentences

# So many claims of a set are enough, drawn by their texts.
MOST_CLAIMS: Final = 1200
# A claim needs this coverage for twins: what makes them false must be the change.
COVERED: Final = 0.6
# Twins take words of one kind from those that so many claims use.
FEWEST_USES: Final = 5
# How much of the training are true claims as they came, beside those whose twins are in it.
NATURAL: Final = 0.75
# A kind with fewer twins than this counts for less.
FULL_KIND: Final = 300
TURNS: Final = 100
# How a set is written is no conflict.
STYLE: Final = frozenset(
    {
        *("first_person", "second_person", "hedges", "about_texts", "missing", "question", "exclamation"),
        *("from_question", "all_new", "words", "sentences"),
    }
)


class Pairs(NamedTuple):
    """Claims and twins as numbers: a row of features, the label, the set, and the part in a pair.

    `kinds` is "" for a claim as it came, "true" for a sentence of one beside its twins, and for a twin what
    was changed.
    """

    rows: NDArray[np.float64]
    labels: NDArray[np.bool_]
    sets: NDArray[np.str_]
    kinds: NDArray[np.str_]

    @property
    def natural(self) -> NDArray[np.bool_]:
        """Which rows are claims as they came."""
        return np.asarray(self.kinds == "")

    @property
    def false_twins(self) -> NDArray[np.bool_]:
        """Which rows are false twins."""
        return np.asarray(~self.natural & ~self.labels)

    @property
    def pool(self) -> first.Pool:
        """As the first part's pool."""
        return first.Pool(self.rows, self.labels, self.sets, ~self.natural)

    def where(self, chosen: NDArray[np.bool_]) -> "Pairs":
        """Some of them."""
        return Pairs(self.rows[chosen], self.labels[chosen], self.sets[chosen], self.kinds[chosen])


def chosen_of(claims: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """At most `MOST_CLAIMS` of each set, drawn by their texts."""
    by_set: dict[str, list[dict[str, Any]]] = {}
    for claim in claims:
        by_set.setdefault(claim["source"], []).append(claim)
    return [
        claim
        for own in by_set.values()
        for claim in sorted(own, key=lambda claim: crc32(f"draw {claim['claim']}".encode()))[:MOST_CLAIMS]
    ]


def kin_of(claims: Sequence[dict[str, Any]]) -> Kin:
    """The words that the claims use, from which twins take one of the same kind."""
    uses = Counter(word for claim in claims for word in set(re.findall(r"\b[a-z]{4,}\b", claim["claim"])))
    return Kin(sorted(word for word, count in uses.items() if count >= FEWEST_USES), WordVectors())


def pairs_of(
    claims: Sequence[dict[str, Any]], rarity: dict[str, int], kin: Kin, vectors: Vectors | None
) -> Pairs:
    """Compare each claim with its evidence, and of true ones a sentence and up to two of its false twins."""
    rows: list[tuple[float, ...]] = []
    about: list[tuple[bool, str, str]] = []
    for claim in claims:
        evidence, question = read_evidence(tuple(claim["contexts"])), claim["question"] or ""

        def values(
            text: str, evidence: IndexedTexts = evidence, question: str = question
        ) -> tuple[float, ...]:
            compared = compare(text, evidence, rarity=rarity, question=question, vectors=vectors)
            said, found = look_up(text, evidence, rarity=rarity)
            return compared.values + conflicts_of(said, found, Alignment(said, found, vectors))

        rows.append(values(claim["claim"]))
        about.append((claim["supported"], claim["source"], ""))
        if not claim["supported"]:
            continue
        draw = crc32(claim["claim"].encode()) // 11
        sentences = split_sentences(claim["claim"])
        sentence = sentences[draw % len(sentences)] if sentences else claim["claim"]
        own = values(sentence)
        twins = list(all_twins_of(sentence, claim["contexts"], kin)) if own[0] >= COVERED else []
        if not twins:
            continue
        seldom = [twin for twin in twins if twin.kind not in {"word", "kin", "negation", "roles"}]
        taken = [twins[draw // 3 % len(twins)], *([seldom[draw // 7 % len(seldom)]] if seldom else [])]
        rows.append(own)
        about.append((True, claim["source"], "true"))
        for twin in {twin.kind: twin for twin in taken}.values():
            rows.append(values(twin.text))
            about.append((False, claim["source"], twin.kind))
    labels, sets, kinds = map(np.array, zip(*about, strict=True))
    return Pairs(np.array(rows), labels, sets, kinds)


def weights_of(pairs: Pairs) -> NDArray[np.float64]:
    """False twins count as much as true claims; each kind the same, and each set its share."""
    weights = np.zeros(len(pairs.labels))
    for kind in np.unique(pairs.kinds[pairs.false_twins]):
        here = pairs.kinds == kind
        weights[here] = min(1.0, here.sum() / FULL_KIND) / here.sum()
    half = weights.sum()
    partners = pairs.kinds == "true"
    weights[partners] = (1 - NATURAL) * half / partners.sum()
    natural = pairs.natural & pairs.labels
    shares = {str(name): first.SHARES.get(str(name), 1.0) for name in np.unique(pairs.sets[natural])}
    for name, share in shares.items():
        here = natural & (pairs.sets == name)
        weights[here] = NATURAL * half * share / sum(shares.values()) / here.sum()
    return np.asarray(weights / weights[weights > 0].mean())


class Veto(NamedTuple):
    """What speaks against a statement, from some of the columns."""

    columns: list[int]
    model: HistGradientBoostingClassifier

    def log_odds(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        """The log-odds that a row is a false twin."""
        return np.asarray(self.model.decision_function(rows[:, self.columns]))


def fit(pairs: Pairs, names: Sequence[str], turns: int = TURNS) -> Veto:
    """Tell false twins from true claims."""
    columns = [place for place, name in enumerate(names) if name not in STYLE]
    weights = weights_of(pairs)
    used = weights > 0
    model = HistGradientBoostingClassifier(
        max_iter=turns,
        learning_rate=0.08,
        max_depth=first.DEPTH,
        max_leaf_nodes=16,
        min_samples_leaf=80,
        l2_regularization=5.0,
        max_features=0.4,
        random_state=0,
    )
    model.fit(pairs.rows[used][:, columns], pairs.false_twins[used], sample_weight=weights[used])
    return Veto(columns, model)


class Line(NamedTuple):
    """From log-odds to decisions: from the threshold on supported; how fast the probability grows there."""

    threshold: float
    slope: float


def left_out(pairs: Pairs, names: Sequence[str]) -> Line:
    """Print what the model is worth on each set that it never saw, and find the threshold on these sets."""
    base = [name for name in names if name not in CONFLICTS]
    odds, against = np.zeros(len(pairs.labels)), np.zeros(len(pairs.labels))
    for name in np.unique(pairs.sets):
        others, here = pairs.where(pairs.sets != name), pairs.sets == name
        odds[here] = first.fit(others.pool, base, seeds=first.SEEDS[:1]).log_odds(pairs.rows[here])
        against[here] = fit(others, names, turns=TURNS // 2).log_odds(pairs.rows[here])
    final = odds - penalty(against, pairs.rows[:, names.index("rest")])
    chosen = [pairs.natural & (pairs.sets == name) for name in np.unique(pairs.sets)]

    def mean_accuracy(threshold: float) -> float:
        return float(
            np.mean([balanced_accuracy_score(pairs.labels[own], final[own] >= threshold) for own in chosen])
        )

    # the middle of five neighbours that are good together, so that no single claim decides
    grid = [step / 20 for step in range(-30, 21)]
    threshold = max(grid[2:-2], key=lambda at: sum(mean_accuracy(at + step / 20) for step in range(-2, 3)))
    print(f"{'set left out':24}{'n':>6}{'area':>7}{'no veto':>9}{'overlap':>9}{'balanced accuracy':>19}")
    for own in chosen:
        labels = pairs.labels[own]
        areas = [roc_auc_score(labels, each[own]) for each in (final, odds, pairs.rows[:, 0])]
        accuracy = balanced_accuracy_score(labels, final[own] >= threshold)
        listed = f"{areas[0]:7.3f}{areas[1]:9.3f}{areas[2]:9.3f}{accuracy:19.3f}"
        print(f"{pairs.sets[own][0]:24}{len(labels):6}{listed}")
    for at in sorted({-1.0, -0.6, -0.4, -0.2, 0.0, 0.2, threshold}):
        print(f"mean balanced accuracy {mean_accuracy(at):.3f} at {at:+.2f}")
    print(f"{'twins':24}{'n':>6}{'refused':>9}{'no veto':>9}")
    for kind in np.unique(pairs.kinds[~pairs.natural]):
        own = pairs.kinds == kind
        shares = [(each[own] < threshold).mean() for each in (final, odds)]
        print(f"{kind:24}{own.sum():6}{shares[0]:9.2f}{shares[1]:9.2f}")
    line = LogisticRegression(C=1e6).fit(
        (final - threshold)[pairs.natural, None],
        pairs.labels[pairs.natural],
        sample_weight=first.weights_of(pairs.pool)[pairs.natural],
    )
    print(f"threshold {threshold:+.2f}, slope {line.coef_[0, 0]:.2f}", flush=True)
    return Line(threshold, float(line.coef_[0, 0]))


def weights_text(veto: Veto, line: Line) -> str:
    """One file of weights."""
    trees = first.exported_trees([veto.model], 1)
    trees["features"] = [[veto.columns[feature] for feature in tree] for tree in trees["features"]]
    return first.line_of(
        {
            "slope": round(line.slope, 3),
            "threshold": round(SCALE * line.threshold),
            "base": round(SCALE * float(np.asarray(veto.model._baseline_prediction).item())),
            "trees": trees,
        }
    )


def train(claims: Sequence[dict[str, Any]], rarity: dict[str, int], name: str) -> str:
    """Train the second part of one file of weights, from the permissive claims; gives that file.

    Args:
        claims: the permissive claims of the pool.
        rarity: how telling words are.
        name: "plain" or "vectors".
    """
    names = (*FEATURES, *(VECTOR_FEATURES if name == "vectors" else ()), *CONFLICTS)
    pairs = pairs_of(chosen_of(claims), rarity, kin_of(claims), WordVectors() if name == "vectors" else None)
    print(
        f"\nveto of {name}: {pairs.natural.sum()} claims, {pairs.false_twins.sum()} false twins", flush=True
    )
    line = left_out(pairs, names)
    return weights_text(fit(pairs, names), line)


def main() -> None:
    """Train with and without word vectors."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("--write", action="store_true", help="replace the weights in the package")
    parser.add_argument("--only", choices=["plain", "vectors"], help="one of the two")
    options = parser.parse_args()
    claims = first.read_pool()
    permissive = [claim for claim in claims if first.is_permissive(claim)]
    rarity = first.rarity_of(permissive)
    for name in ("plain", "vectors"):
        if options.only in (None, name):
            text = train(permissive, rarity, name)
            if options.write:
                (first.PACKAGE / f"veto_{name}.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
