"""What a paper says about its table, checked against that table's own numbers."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, ValidationError

from ragmetrics_core.errors import ConfigError
from ragmetrics_core.shapes import Json
from ragmetrics_core.study.published import Printed, PublishedTable
from ragmetrics_core.study.significance import Range, decided, welch_range
from ragmetrics_core.study.tables import Column, Mark, Marked, Table, counted

__all__ = ["Check", "Claim", "Verdict", "check_claims", "claim_tables", "read_claims"]

Verdict = Literal["supported", "not supported", "contradicted", "open", "not testable"]

_MARKS: dict[Verdict, Mark] = {
    "supported": "good",
    "not supported": "weak",
    "contradicted": "weak",
    "open": "open",
    "not testable": "",
}


class Claim(BaseModel):
    """One claim.

    Attributes:
        claim: what the paper says, in a sentence.
        table: the file that it is about.
        kind: what to check for each pair of rows that differ only in `label`:
            "higher": the first is significantly higher (one-sided, or two-sided with `two_sided`);
            "not_lower": the first is not significantly lower (one-sided);
            "similar": the two do not differ significantly (two-sided);
            "at_least": the first printed number is not below the second one;
            "weighted_sum": for each row, `total` is the weighted sum of other metrics, within rounding.
        label, pairs: the label, and which values of it are compared, the first with the second.
        metrics: of which metrics; all without it.
        where: only rows whose labels have one of these values.
        total, weights: of "weighted_sum".
        two_sided: whether "higher" is tested two-sided.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    claim: str
    table: str
    kind: Literal["higher", "not_lower", "similar", "at_least", "weighted_sum"]
    label: str | None = None
    pairs: tuple[tuple[str, str], ...] = ()
    metrics: tuple[str, ...] = ()
    where: dict[str, tuple[str, ...]] = {}
    total: str | None = None
    weights: dict[str, float] = {}
    two_sided: bool = False


class Check(NamedTuple):
    """One row, or pair of rows, that a claim is about.

    Attributes:
        claim: the claim.
        where: which rows.
        metric: in which metric.
        numbers: the printed numbers that decide it.
        difference: the first mean less the second, or the total less the weighted sum.
        p: of the test, as the range that rounding allows.
        verdict: "supported" or "contradicted" by the numbers, "not supported" where a significant difference
            is claimed and there is none, "open" where rounding decides, "not testable" without n.
    """

    claim: Claim
    where: str
    metric: str
    numbers: str
    difference: float
    p: Range | None
    verdict: Verdict


def read_claims(path: Path) -> list[Claim]:
    """Read claims from a JSON file: a list of objects; see `Claim`.

    Raises:
        ConfigError: the file is no such list.
    """
    try:
        found: Json = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(found, list):
            raise ConfigError(f"{path} is no list of claims")
        return [Claim.model_validate(each) for each in found]
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror or error}") from error
    except ValidationError as error:
        (first, *_) = error.errors()
        place = ".".join(map(str, first["loc"]))
        raise ConfigError(f"{path}: a claim's {place} cannot be used: {first['msg']}") from error
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{path} is no JSON: {error}") from error


def check_claims(table: PublishedTable, claims: Sequence[Claim], *, alpha: float = 0.05) -> list[Check]:
    """Check the claims that are about a table; tests are not adjusted, for the paper's are not.

    Raises:
        ConfigError: a claim names a label, value or metric that the table does not have.
    """
    found: list[Check] = []
    for claim in claims:
        if claim.table == table.name:
            checks = list(
                _weighted(table, claim) if claim.kind == "weighted_sum" else _pairs(table, claim, alpha)
            )
            if not checks:
                raise ConfigError(f"the claim {claim.claim!r} is about no row of {table.name}")
            found += checks
    return found


def claim_tables(checks: Sequence[Check]) -> Iterator[Table]:
    """Each claim with how its checks came out, then those that a test did not plainly support, then all."""
    claims = list({check.claim.claim: check.claim for check in checks}.values())
    numbers = {claim.claim: number for number, claim in enumerate(claims, start=1)}
    verdicts: dict[str, list[Verdict]] = {
        name: [each.verdict for each in checks if each.claim.claim == name] for name in numbers
    }
    yield Table(
        name="claims",
        title="What the table says about the paper's claims",
        columns=(
            Column("no", "count"),
            Column("claim"),
            Column("supported"),
            Column("otherwise"),
            Column("verdict"),
        ),
        rows=tuple(
            (
                number,
                name,
                f"{verdicts[name].count('supported')} of {len(verdicts[name])}",
                counted(
                    (each, verdicts[name].count(each))
                    for each in _MARKS
                    if each in verdicts[name] and each != "supported"
                ),
                Marked(*_overall(verdicts[name])),
            )
            for name, number in numbers.items()
        ),
        notes=("p values are not adjusted here, for the paper's are not; the table of tests adjusts them",),
    )
    wrong = [each for each in checks if each.verdict not in ("supported", "not testable")]
    if wrong:
        yield _check_table("exceptions", "What is not plainly supported", wrong, numbers)
    yield _check_table("checks", "Every check", checks, numbers)


def _check_table(name: str, title: str, checks: Sequence[Check], numbers: Mapping[str, int]) -> Table:
    return Table(
        name=name,
        title=title,
        columns=(
            Column("no", "count"),
            Column("rows"),
            Column("metric"),
            Column("numbers"),
            Column("p", "p"),
            Column("verdict"),
        ),
        rows=tuple(
            (
                numbers[each.claim.claim],
                each.where,
                each.metric,
                each.numbers,
                each.p,
                Marked(each.verdict, _MARKS[each.verdict]),
            )
            for each in checks
        ),
    )


def _overall(verdicts: Sequence[Verdict]) -> tuple[str, Mark]:
    if all(each == "not testable" for each in verdicts):
        return "not testable without n", ""
    if any(each in ("contradicted", "not supported") for each in verdicts):
        held = sum(each == "supported" for each in verdicts)
        return ("does not hold in every row" if held else "does not hold"), "weak"
    if all(each == "supported" for each in verdicts):
        return "holds", "good"
    return "holds as far as rounding and n allow to tell", "open"


def _pairs(table: PublishedTable, claim: Claim, alpha: float) -> Iterator[Check]:
    label = claim.label
    if label is None or label not in table.labels or not claim.pairs:
        raise ConfigError(
            f"the claim {claim.claim!r} compares along {label!r}, which is no label of {table.name}"
        )
    rows = [row for row in table.rows if _fits(table, row, claim)]
    known = {(row.metric, _others(row, label), row.label(label)): row for row in rows}
    varying = [name for name in table.labels if len({row.label(name) for row in rows}) > 1]
    for first, second in claim.pairs:
        for row in rows:
            if row.label(label) != first:
                continue
            other = known.get((row.metric, _others(row, label), second))
            if other is not None:
                where = ", ".join(value for name, value in row.labels if name != label and name in varying)
                yield _compared(
                    table, claim, row, other, f"{first} and {second}" + (f"; {where}" if where else ""), alpha
                )


def _compared(
    table: PublishedTable, claim: Claim, row: Printed, other: Printed, where: str, alpha: float
) -> Check:
    difference, width = row.mean - other.mean, table.half_width
    numbers = f"{_told(row)} and {_told(other)}"
    if claim.kind == "at_least":
        # a difference of two rounded numbers is off by up to twice the half width, and by float rounding
        verdict: Verdict = "supported" if difference >= -1e-12 else "open"
        if difference < -2 * width - 1e-12:
            verdict = "contradicted"
        return Check(claim, where, row.metric, numbers, difference, None, verdict)
    one, two = row.summary, other.summary
    if min(one.n, two.n) == 0:
        return Check(claim, where, row.metric, numbers, difference, None, "not testable")
    p: Range | None
    match claim.kind:
        case "higher":
            p = welch_range(
                one, two, half_width=width, alternative="two-sided" if claim.two_sided else "greater"
            )
            significant = decided(p, alpha)
            is_lower = decided(welch_range(one, two, half_width=width, alternative="less"), alpha)
            verdict = "open" if significant is None else "supported" if significant else "not supported"
            if is_lower:
                verdict = "contradicted"
        case "not_lower":
            p = welch_range(one, two, half_width=width, alternative="less")
            verdict = _negated(decided(p, alpha))
        case _:
            p = welch_range(one, two, half_width=width)
            verdict = _negated(decided(p, alpha))
    return Check(claim, where, row.metric, numbers, difference, p, "not testable" if p is None else verdict)


def _negated(significant: bool | None) -> Verdict:
    return "open" if significant is None else "contradicted" if significant else "supported"


def _weighted(table: PublishedTable, claim: Claim) -> Iterator[Check]:
    if claim.total is None or not claim.weights:
        raise ConfigError(f"the claim {claim.claim!r} needs a total and weights")
    lines: dict[tuple[tuple[str, str], ...], dict[str, Printed]] = {}
    for row in table.rows:
        if _fits(table, row, claim):
            lines.setdefault(row.labels, {})[row.metric] = row
    for labels, metrics in lines.items():
        lacking = [name for name in (claim.total, *claim.weights) if name not in metrics]
        if lacking:
            raise ConfigError(f"{table.name} has no {lacking[0]} for {dict(labels)}")
        total = metrics[claim.total].mean
        expected = sum(weight * metrics[name].mean for name, weight in claim.weights.items())
        # the total and each part are rounded
        reach = table.half_width * (1 + sum(map(abs, claim.weights.values()))) + 1e-12
        verdict: Verdict = "supported" if abs(total - expected) <= reach else "contradicted"
        where = ", ".join(value for _, value in labels)
        yield Check(
            claim, where, claim.total, f"{total:g}, sum {expected:.4f}", total - expected, None, verdict
        )


def _fits(table: PublishedTable, row: Printed, claim: Claim) -> bool:
    for name in claim.where:
        if name not in table.labels:
            raise ConfigError(f"{table.name} has no label {name!r}, which the claim {claim.claim!r} names")
    is_wanted = not claim.metrics or row.metric in claim.metrics
    return is_wanted and all(row.label(name) in values for name, values in claim.where.items())


def _others(row: Printed, label: str) -> tuple[tuple[str, str], ...]:
    return tuple(pair for pair in row.labels if pair[0] != label)


def _told(row: Printed) -> str:
    spread = "" if row.sd is None else f" ({row.sd:.2f})"
    return f"{row.mean:g}{spread}" + ("" if row.n is None else f" n {row.n}")
