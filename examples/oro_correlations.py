"""What the correlations of a paper's text say about its claims: Oro et al. (2024), section 4.4.

    python examples/oro_correlations.py [--checks]

examples/data/oro_correlations.csv has the nine Spearman correlations with people that the text prints, and
oro_claims.json has what the paper says about them. Each set has 50 questions, so the intervals are wide. The
paper does not say which number is "moderate" or "poor"; here moderate begins at 0.4 (Schober et al. 2018,
https://doi.org/10.1213/ANE.0000000000002864).

A printed number is rounded, and for two metrics on the same samples the correlation of the metrics with each
other is not in the text. So p (one-sided) is a range, over all values that these may have. A claim is
`supported` if all of the range is below 0.025, `contradicted` if all is above 0.975, `not supported` if it is
between, and `open` if the missing numbers decide.
"""

import argparse
import csv
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import atanh, sqrt, tanh
from pathlib import Path
from statistics import NormalDist
from typing import Literal, NamedTuple

DATA = Path(__file__).parent / "data"
ALPHA = 0.05

Kind = Literal["at_least", "below", "higher_on_same_samples", "higher_on_other_samples"]
Verdict = Literal["supported", "not supported", "open", "contradicted"]


class Correlation(NamedTuple):
    """A printed correlation; `half_width` is the most that rounding changed it."""

    labels: dict[str, str]
    rho: float
    n: int
    half_width: float

    def __str__(self) -> str:
        """The metric, its judge and its set."""
        judge = f" ({self.labels['judge']})" if self.labels["judge"] else ""
        return f"{self.labels['metric']}{judge}, {self.labels['set']}"

    @property
    def ends(self) -> tuple[float, float]:
        """The lowest and the highest number that is printed as this one."""
        return self.rho - self.half_width, self.rho + self.half_width

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval, over all numbers that are printed as this one."""
        low, high = self.ends
        return interval(low, self.n)[0], interval(high, self.n)[1]


@dataclass(frozen=True, kw_only=True)
class Claim:
    """What the paper says about some of its correlations, perhaps compared with others."""

    claim: str
    kind: Kind
    rows: Mapping[str, str]
    sets: Sequence[str]
    bound: float = 0.0
    others: Mapping[str, str] = field(default_factory=dict[str, str])


class Check(NamedTuple):
    """The verdict on a claim for one correlation, or for two."""

    claim: str
    numbers: str
    verdict: Verdict


def read_correlations(path: Path) -> list[Correlation]:
    """Read the correlations; the decimals of a number say how it was rounded."""
    with path.open(encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    return [
        Correlation(
            {name: line[name] for name in ("set", "metric", "judge", "needs")},
            float(line["rho"]),
            int(line["n"]),
            0.5 * 10.0 ** -len(line["rho"].partition(".")[2]),
        )
        for line in lines
    ]


def read_claims(path: Path) -> list[Claim]:
    """Read the claims."""
    return [Claim(**each) for each in json.loads(path.read_text(encoding="utf-8"))]


def standard_error(rho: float, n: int) -> float:
    """Standard error of Fisher's z of a Spearman correlation.

    Bonett and Wright (2000), https://doi.org/10.1007/BF02294183.

    >>> round(standard_error(0.5, 48), 4)
    0.1581
    """
    return sqrt((1 + rho**2 / 2) / (n - 3))


def interval(rho: float, n: int) -> tuple[float, float]:
    """The 95 % interval of a Spearman correlation.

    >>> [round(end, 2) for end in interval(0.5, 48)]
    [0.23, 0.7]
    """
    reach = NormalDist().inv_cdf(1 - ALPHA / 2) * standard_error(rho, n)
    return tanh(atanh(rho) - reach), tanh(atanh(rho) + reach)


def z_of_same_samples(one: float, other: float, between: float, n: int) -> float:
    """Z of the difference of two Pearson correlations with the same variable, on the same samples.

    `between` is the correlation of the two others. Meng, Rosenthal and Rubin (1992),
    https://doi.org/10.1037/0033-2909.111.1.172, whose example is:

    >>> round(z_of_same_samples(0.63, -0.03, -0.19, 15), 2)
    1.68
    """
    mean_square = (one**2 + other**2) / 2
    f = min(1.0, (1 - between) / (2 * (1 - mean_square)))
    h = (1 - f * mean_square) / (1 - mean_square)
    return (atanh(one) - atanh(other)) * sqrt((n - 3) / (2 * (1 - between) * h))


def p_on_same_samples(one: Correlation, other: Correlation) -> tuple[float, float]:
    """The lowest and the highest one-sided p of "higher" over all correlations of the two metrics.

    The three correlations must fit together; the variance is that of a Spearman correlation.
    """
    ps: list[float] = []
    for first, second in ((low, high) for low in one.ends for high in other.ends):
        middle, reach = first * second, sqrt((1 - first**2) * (1 - second**2))
        factor = sqrt(1 + (first**2 + second**2) / 4)
        # at the ends of the range the three would be one plane, and Z infinite
        for step in range(-99, 100):
            z = z_of_same_samples(first, second, middle + reach * step / 100, one.n) / factor
            ps.append(1 - NormalDist().cdf(z))
    return min(ps), max(ps)


def p_on_other_samples(one: Correlation, other: Correlation) -> tuple[float, float]:
    """The lowest and the highest one-sided p of "higher" over the rounding; the samples are different."""
    ps: list[float] = []
    for first, second in ((low, high) for low in one.ends for high in other.ends):
        error = sqrt(standard_error(first, one.n) ** 2 + standard_error(second, other.n) ** 2)
        ps.append(1 - NormalDist().cdf((atanh(first) - atanh(second)) / error))
    return min(ps), max(ps)


def check(claim: Claim, correlations: Sequence[Correlation]) -> Iterator[Check]:
    """Check a claim on each of its correlations; tests are not adjusted, as the paper has none."""
    for one in correlations:
        if one.labels["set"] not in claim.sets or not claim.rows.items() <= one.labels.items():
            continue
        if claim.kind in ("at_least", "below"):
            yield Check(claim.claim, _shown(one), _against_bound(claim, one))
            continue
        is_same = claim.kind == "higher_on_same_samples"
        for other in correlations:
            if not claim.others.items() <= other.labels.items():
                continue
            if is_same == (one.labels["set"] == other.labels["set"]):
                low, high = (p_on_same_samples if is_same else p_on_other_samples)(one, other)
                numbers = f"{one}: {one.rho:g}; {other}: {other.rho:g}; p {low:.3f} to {high:.3f}"
                yield Check(claim.claim, numbers, _of_test(low, high))


def _shown(one: Correlation) -> str:
    low, high = one.interval
    return f"{one}: {one.rho:g} ({low:.2f}, {high:.2f})"


def _against_bound(claim: Claim, one: Correlation) -> Verdict:
    low, high = one.interval
    if low <= claim.bound < high:
        return "open"
    return "supported" if (low > claim.bound) == (claim.kind == "at_least") else "contradicted"


def _of_test(low: float, high: float) -> Verdict:
    """The verdict of a one-sided test whose p lies in a range, at two-sided 5 %."""
    if low > 1 - ALPHA / 2:
        return "contradicted"
    if high < ALPHA / 2:
        return "supported"
    return "open" if low < ALPHA / 2 else "not supported"


def main(words: Sequence[str] | None = None) -> None:
    """Print the correlations with their intervals, then the verdicts on each claim."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--checks", action="store_true", help="print every check")
    given = parser.parse_args(words)
    correlations = read_correlations(DATA / "oro_correlations.csv")
    for one in correlations:
        print(_shown(one))
    for claim in read_claims(DATA / "oro_claims.json"):
        checks = list(check(claim, correlations))
        counts = Counter(each.verdict for each in checks)
        told = ", ".join(f"{count} {verdict}" for verdict, count in counts.items())
        print(f"\n{claim.claim}: {told}")
        for each in checks:
            if given.checks or each.verdict != "supported":
                print(f"  {each.verdict}: {each.numbers}")


if __name__ == "__main__":
    main()
