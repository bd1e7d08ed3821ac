"""What a paper's own tables say about its claims: Roychowdhury et al. (2024), https://arxiv.org/abs/2407.12873.

    python examples/telecom_tables.py [--n 715] [--n retrieval=Wrong:213] [--checks]

Tables 1 to 4 are examples/data/telecom_table*.csv, one figure a line; telecom_claims.json has what the paper
says about them. A printed number is rounded, so p is a range: the least and the greatest that the rounding
allows. A claim is supported or contradicted when the whole range is on one side of 0.05, open when rounding
decides, and not testable where the table does not print n (`--n` gives one; it is never guessed). It needs
scipy.
"""

import argparse
import csv
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from itertools import product
from math import sqrt
from pathlib import Path
from typing import Any, Literal, NamedTuple

DATA = Path(__file__).resolve().parent / "data"
ALPHA = 0.05

stats: Any = import_module("scipy.stats")  # it ships no types

Verdict = Literal["supported", "not supported", "contradicted", "open", "not testable"]
Alternative = Literal["two-sided", "greater", "less"]


class Range(NamedTuple):
    """The lowest and the highest p that rounding allows."""

    low: float
    high: float

    def is_below(self, alpha: float) -> bool | None:
        """Whether p lies below alpha; None when the range leaves that open."""
        return None if self.low < alpha <= self.high else self.high < alpha


class Size(NamedTuple):
    """How many samples the rows of these labels are of, where the table does not say it."""

    n: int
    where: Mapping[str, str]


class Row(NamedTuple):
    """One figure of a table; the sd of a share is that of single outcomes, n is None where none stands."""

    labels: Mapping[str, str]
    metric: str
    mean: float
    sd: float | None
    n: int | None

    def __str__(self) -> str:
        """The figure as a table prints it: "0.76 (0.22) n 502"."""
        spread = "" if self.sd is None else f" ({self.sd:.2f})"
        return f"{self.mean:g}{spread}" + ("" if self.n is None else f" n {self.n}")


class PaperTable(NamedTuple):
    """A table: its rows, and by how much each number may have been rounded."""

    name: str
    labels: tuple[str, ...]
    rows: tuple[Row, ...]
    half_width: float


class Claim(NamedTuple):
    """One claim.

    Attributes:
        claim: what the paper says, in a sentence.
        table: the file that it is about.
        kind: what to check of each pair of rows that differ only in `label`:
            "higher": the first is significantly higher (one-sided, or two-sided with `two_sided`);
            "not_lower": the first is not significantly lower (one-sided);
            "similar": the two do not differ significantly (two-sided);
            "at_least": the first printed number is not below the second one;
            "weighted_sum": of each row, `total` is the weighted sum of other metrics, within rounding.
        label, pairs: the label, and which values of it are compared, the first with the second.
        metrics: of which metrics; all without it.
        where: only rows whose labels have one of these values.
        total, weights: of "weighted_sum".
        two_sided: whether "higher" is tested two-sided.
    """

    claim: str
    table: str
    kind: Literal["higher", "not_lower", "similar", "at_least", "weighted_sum"]
    label: str = ""
    pairs: Sequence[Sequence[str]] = ()
    metrics: Sequence[str] = ()
    where: Mapping[str, Sequence[str]] = {}
    total: str = ""
    weights: Mapping[str, float] = {}
    two_sided: bool = False

    def is_about(self, row: Row) -> bool:
        """Whether the claim says something of a row."""
        is_wanted = not self.metrics or row.metric in self.metrics
        return is_wanted and all(row.labels[name] in values for name, values in self.where.items())


class Check(NamedTuple):
    """A row, or pair of rows, that a claim is about: which, what metric, its numbers, p and the verdict."""

    claim: str
    where: str
    metric: str
    numbers: str
    p: Range | None
    verdict: Verdict


def read_table(path: Path, sizes: Sequence[Size] = ()) -> PaperTable:
    """Read a table: metric, mean and sd (or share), perhaps n; others are labels. A printed n stays."""
    with path.open(encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    value = "share" if "share" in lines[0] else "mean"
    labels = tuple(name for name in lines[0] if name not in {"metric", "mean", "sd", "share", "n"})
    rows: list[Row] = []
    for line in lines:
        mean, of = float(line[value]), {name: line[name] for name in labels}
        n = int(line["n"]) if line.get("n") else None
        for size in sizes if n is None else ():
            if size.where.items() <= of.items():
                n = size.n
        sd = (
            float(line["sd"])
            if value == "mean"
            else None
            if n is None
            else sqrt(mean * (1 - mean) * n / (n - 1))
        )
        rows.append(Row(of, line["metric"], mean, sd, n))
    printed = [line[name] for line in lines for name in (value, "sd") if name in line]
    decimals = max(len(text.partition(".")[2]) for text in printed)
    return PaperTable(path.name, labels, tuple(rows), 0.5 * 10.0**-decimals)


def read_claims(path: Path) -> list[Claim]:
    """Read the claims; a name that a claim does not have is a TypeError."""
    found: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))
    return [Claim(**each) for each in found]


def size_of(text: str) -> Size:
    """Read a size: 715 for all rows, or tuning=PT,retrieval=Wrong:200 for those of these labels."""
    where, _, number = text.rpartition(":")
    pairs = [part.split("=") for part in where.split(",")] if where else []
    if not number.isdigit() or int(number) < 2 or any(len(pair) != 2 for pair in pairs):
        raise argparse.ArgumentTypeError(f"{text!r} is no size: write 715, or LABEL=VALUE,LABEL=VALUE:715")
    return Size(int(number), dict(pairs))


def welch_range(one: Row, other: Row, half_width: float, alternative: Alternative) -> Range | None:
    """The p values of Welch's test that are possible when means and sds were rounded by up to `half_width`.

    The extremes are looked for on a grid of the four numbers that holds all their ends, and no difference of
    means where the ends allow that. None without n and sd.
    """
    if one.n is None or other.n is None or one.sd is None or other.sd is None:
        return None
    difference = one.mean - other.mean
    ends = [difference - 2 * half_width, difference, difference + 2 * half_width]
    if ends[0] < 0 < ends[2]:
        ends.append(0.0)
    steps = [half_width * step for step in (-1.0, -0.5, 0.0, 0.5, 1.0)]
    grid = [(d, max(one.sd + i, 0.0), max(other.sd + j, 0.0)) for d, i, j in product(ends, steps, steps)]
    ps = [
        stats.ttest_ind_from_stats(
            d, sd, one.n, 0.0, of_other, other.n, equal_var=False, alternative=alternative
        ).pvalue
        for d, sd, of_other in grid
    ]
    known = [p for p in ps if p is not None]
    return Range(min(known), max(known))


def check(table: PaperTable, claims: Sequence[Claim]) -> list[Check]:
    """Check the claims that are about a table; tests are not adjusted, for the paper's are not."""
    found: list[Check] = []
    for claim in claims:
        if claim.table == table.name:
            found += _sums(table, claim) if claim.kind == "weighted_sum" else _pairs(table, claim)
    return found


def overall(verdicts: Sequence[Verdict]) -> str:
    """What the checks of one claim come to."""
    kinds = set(verdicts)
    if kinds == {"not testable"}:
        return "not testable without n"
    if kinds & {"contradicted", "not supported"}:
        return "does not hold in every row" if "supported" in kinds else "does not hold"
    return "holds" if kinds == {"supported"} else "holds as far as rounding and n allow to tell"


def _sums(table: PaperTable, claim: Claim) -> Iterator[Check]:
    lines: dict[tuple[str, ...], dict[str, Row]] = {}
    for row in filter(claim.is_about, table.rows):
        lines.setdefault(tuple(row.labels.values()), {})[row.metric] = row
    for labels, metrics in lines.items():
        total = metrics[claim.total].mean
        expected = sum(weight * metrics[name].mean for name, weight in claim.weights.items())
        # the total and each part are rounded
        reach = table.half_width * (1 + sum(map(abs, claim.weights.values()))) + 1e-12
        verdict: Verdict = "supported" if abs(total - expected) <= reach else "contradicted"
        yield Check(
            claim.claim, ", ".join(labels), claim.total, f"{total:g}, sum {expected:.4f}", None, verdict
        )


def _pairs(table: PaperTable, claim: Claim) -> Iterator[Check]:
    rows = list(filter(claim.is_about, table.rows))
    known = {(row.metric, _others(row, claim.label), row.labels[claim.label]): row for row in rows}
    varying = [name for name in table.labels if len({row.labels[name] for row in rows}) > 1]
    for first, second in claim.pairs:
        for row in rows:
            other = known.get((row.metric, _others(row, claim.label), second))
            if row.labels[claim.label] == first and other is not None:
                where = [row.labels[name] for name in varying if name != claim.label]
                p, verdict = _compared(claim, row, other, table.half_width)
                told = "; ".join([f"{first} and {second}", *([", ".join(where)] if where else [])])
                yield Check(claim.claim, told, row.metric, f"{row} and {other}", p, verdict)


def _others(row: Row, label: str) -> tuple[str, ...]:
    return tuple(value for name, value in row.labels.items() if name != label)


def _compared(claim: Claim, one: Row, other: Row, width: float) -> tuple[Range | None, Verdict]:
    if claim.kind == "at_least":
        # a difference of two rounded numbers is off by up to twice the half width, and by float rounding
        difference = one.mean - other.mean
        if difference < -2 * width - 1e-12:
            return None, "contradicted"
        return None, "supported" if difference >= -1e-12 else "open"
    less = welch_range(one, other, width, "less")
    if less is None:
        return None, "not testable"
    if claim.kind == "higher":
        p = welch_range(one, other, width, "two-sided" if claim.two_sided else "greater")
        assert p is not None
        significant = p.is_below(ALPHA)
        if less.is_below(ALPHA):
            return p, "contradicted"
        return p, "open" if significant is None else "supported" if significant else "not supported"
    p = less if claim.kind == "not_lower" else welch_range(one, other, width, "two-sided")
    assert p is not None
    significant = p.is_below(ALPHA)
    return p, "open" if significant is None else "contradicted" if significant else "supported"


def main(words: Sequence[str] | None = None) -> None:
    """Print what the tables say about each claim, and what is not plainly supported."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--n", type=size_of, action="append", default=[], help="an n that no table prints")
    parser.add_argument("--checks", action="store_true", help="print every check")
    given = parser.parse_args(words)
    claims = read_claims(DATA / "telecom_claims.json")
    for number in (1, 2, 3, 4):
        checks = check(read_table(DATA / f"telecom_table{number}.csv", given.n), claims)
        print(f"\ntable {number}")
        for name in dict.fromkeys(each.claim for each in checks):
            verdicts: list[Verdict] = [each.verdict for each in checks if each.claim == name]
            rest = ", ".join(
                f"{count} {kind}" for kind, count in Counter(verdicts).items() if kind != "supported"
            )
            held = f"{verdicts.count('supported')} of {len(verdicts)}"
            print(f"  {held:>8}  {name}: {overall(verdicts)}" + (f" ({rest})" if rest else ""))
        for each in checks:
            if given.checks or each.verdict not in ("supported", "not testable"):
                p = "" if each.p is None else f", p {each.p.low:.3f} to {each.p.high:.3f}"
                print(f"            {each.verdict}: {each.metric}, {each.where}: {each.numbers}{p}")


if __name__ == "__main__":
    main()
