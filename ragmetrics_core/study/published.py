"""Published tables: means, standard deviations and shares as a paper prints them, read from CSV."""

import csv
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import isfinite, sqrt
from pathlib import Path
from typing import NamedTuple

from ragmetrics_core.errors import ConfigError
from ragmetrics_core.metrics import ALIASES, METRICS
from ragmetrics_core.study.groups import (
    Group,
    GroupStudy,
    Measured,
    compare_groups,
    small_groups,
)
from ragmetrics_core.study.intervals import Estimate, Summary, mean_interval

__all__ = ["Printed", "PublishedTable", "Size", "parse_size", "read_published", "study_published"]

_NUMBERS = {"metric", "mean", "sd", "share", "n"}


class Size(NamedTuple):
    """How many samples a row of a table is of that does not say it: n, for the rows of these labels."""

    n: int
    where: tuple[tuple[str, str], ...] = ()


class Printed(NamedTuple):
    """One figure of a table.

    Attributes:
        labels: the row's labels, by column.
        metric: what was measured.
        mean: the mean or share.
        sd: the standard deviation; for a share that of single outcomes; None where it is not printed.
        n: how many samples; None where it is not printed.
    """

    labels: tuple[tuple[str, str], ...]
    metric: str
    mean: float
    sd: float | None
    n: int | None

    @property
    def summary(self) -> Summary:
        """Mean, sd and n; n is 0 where it, or the sd, is not known."""
        return Summary(self.mean, self.sd or 0.0, 0 if self.sd is None else self.n or 0)

    def label(self, name: str) -> str | None:
        """The value of one label."""
        return dict(self.labels).get(name)


@dataclass(frozen=True, kw_only=True)
class PublishedTable:
    """A table in long form: one figure a row.

    Attributes:
        name: the file's name.
        labels: the columns that name a row.
        rows: the figures.
        half_width: by how much each number may have been rounded.
    """

    name: str
    labels: tuple[str, ...]
    rows: tuple[Printed, ...]
    half_width: float

    @property
    def metrics(self) -> tuple[str, ...]:
        """What was measured."""
        return tuple(dict.fromkeys(row.metric for row in self.rows))


def read_published(path: Path, *, sizes: Sequence[Size] = (), decimals: int | None = None) -> PublishedTable:
    """Read a table: columns `metric`, `mean` and `sd` (or `share`), perhaps `n`; others are labels.

    Args:
        path: a CSV file.
        sizes: n for rows that do not say it; the last one that fits a row counts. A printed n stays.
        decimals: to how many decimals means and sds were rounded; without it as many as the file shows at
            most.

    Raises:
        ConfigError: a column is missing, a number is none, or a size fits no row.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            lines = list(csv.DictReader(file))
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror or error}") from error
    except (csv.Error, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} is no CSV file in UTF-8: {error}") from error
    if not lines:
        raise ConfigError(f"{path} has no rows")
    columns = [name for name in lines[0] if name is not None]
    value = "share" if "share" in columns else "mean"
    if "metric" not in columns or value not in columns or (value == "mean" and "sd" not in columns):
        raise ConfigError(
            f"{path} needs the columns metric, mean and sd, or metric and share; it has {columns}"
        )
    labels = tuple(name for name in columns if name not in _NUMBERS)
    used: set[Size] = set()
    rows = tuple(
        _row(line, f"{path.name} line {number}", labels, value, sizes, used)
        for number, line in enumerate(lines, start=2)
    )
    for size in sizes:
        if size not in used:
            told = ",".join(f"{name}={each}" for name, each in size.where) or "every row"
            raise ConfigError(f"n {size.n} for {told} is not needed: no row without an n has these labels")
    if decimals is None:
        printed = (line[name] or "" for line in lines for name in (value, "sd") if name in line)
        decimals = max(len(text.strip().partition(".")[2]) for text in printed)
    return PublishedTable(name=path.name, labels=labels, rows=rows, half_width=0.5 * 10.0**-decimals)


def parse_size(text: str) -> Size:
    """Read a size: `715` for all rows, or `tuning=PT,retrieval=Wrong:200` for those of these labels.

    Raises:
        ConfigError: it is neither.
    """
    where, _, number = text.rpartition(":")
    pairs = [part.partition("=") for part in where.split(",")] if where else []
    if not number.strip().isdigit() or int(number) < 1 or any(not equals for _, equals, _ in pairs):
        raise ConfigError(f"{text!r} is no size: write 715, or LABEL=VALUE,LABEL=VALUE:715")
    return Size(int(number), tuple((name.strip(), value.strip()) for name, _, value in pairs))


def study_published(
    table: PublishedTable,
    *,
    by: str | None = None,
    metrics: Sequence[str] | None = None,
    baseline: str | None = None,
    alpha: float = 0.05,
    one_sided: bool = False,
) -> GroupStudy:
    """The study of groups from a published table; p is the range that its rounding allows.

    Lower is better in the metrics of which the catalogue says so by that name, and in no other.

    Args:
        table: the table.
        by: the label that makes the groups; the other labels together name the "run".
        metrics: which ones; without it all.
        baseline: such a "run", as the table of means calls it.
        alpha: below which p a difference is called significant.
        one_sided: test two values that mean good and bad one-sided, as the paper does.

    Raises:
        ConfigError: the table has no such label, metric or baseline, or two rows of the same labels.
    """
    if by is not None and by not in table.labels:
        raise ConfigError(f"{table.name} has no label {by!r}; it has {', '.join(table.labels) or 'none'}")
    chosen = _chosen(table, metrics)
    others = [name for name in table.labels if name != by]
    varying = [name for name in others if len({row.label(name) for row in table.rows}) > 1]
    measured: list[Measured] = []
    for row in table.rows:
        if row.metric not in chosen:
            continue
        run = " / ".join(row.label(name) or "" for name in varying or others) or table.name
        group = Group(run, row.label(by) or "") if by else Group(run)
        if any((each.metric, each.group) == (row.metric, group) for each in measured):
            raise ConfigError(f"{table.name} has two rows for {row.metric} of {group}")
        interval = mean_interval(row.summary) if row.summary.n > 1 else Estimate(row.mean)
        measured.append(Measured(metric=row.metric, group=group, summary=row.summary, interval=interval))
    runs = {each.group.run for each in measured}
    if baseline is not None and baseline not in runs:
        raise ConfigError(f"the baseline {baseline!r} is none of {', '.join(sorted(runs))}")
    notes = [f"numbers are rounded by up to {table.half_width:g}; p is the range that this allows"]
    if unknown := sum(row.summary.n == 0 for row in table.rows):
        notes.append(
            f"{unknown} of {len(table.rows)} figures have no n: nothing is tested with them (see --n)"
        )
    return GroupStudy(
        by=by,
        metrics=chosen,
        measured=tuple(measured),
        contrasts=compare_groups(
            measured,
            baseline=baseline,
            half_width=table.half_width,
            one_sided=one_sided,
            lower_is_better=[name for name in chosen if _lower_is_better(name)],
        ),
        baseline=baseline,
        alpha=alpha,
        notes=(*notes, *small_groups(measured)),
    )


def _row(
    line: dict[str, str | None],
    where: str,
    labels: Iterable[str],
    value: str,
    sizes: Sequence[Size],
    used: set[Size],
) -> Printed:
    named = tuple((name, (line[name] or "").strip()) for name in labels)
    mean = _number(line.get(value), f"{where}: {value}")
    n = None if not (line.get("n") or "").strip() else int(_number(line["n"], f"{where}: n"))
    if n is None:
        for size in sizes:
            if set(size.where) <= set(named):
                n = size.n
                used.add(size)
    if value == "share":
        if not 0 <= mean <= 1:
            raise ConfigError(f"{where}: the share {mean:g} is not within 0 and 1")
        sd = None if n is None else sqrt(mean * (1 - mean) * n / max(n - 1, 1))
    else:
        sd = _number(line.get("sd"), f"{where}: sd")
        if sd < 0:
            raise ConfigError(f"{where}: the sd {sd:g} is below 0")
    return Printed(named, (line["metric"] or "").strip(), mean, sd, n)


def _lower_is_better(metric: str) -> bool:
    """What the catalogue says of a metric of this name; of any other one more is taken to be better."""
    known = METRICS.get(ALIASES.get(metric, metric))
    return known is not None and not known.higher_is_better


def _number(text: str | None, where: str) -> float:
    try:
        number = float(text or "")
    except ValueError:
        raise ConfigError(f"{where} is {text!r}, which is no number") from None
    if not isfinite(number):
        raise ConfigError(f"{where} is {text!r}, which is no number")
    return number


def _chosen(table: PublishedTable, metrics: Sequence[str] | None) -> tuple[str, ...]:
    for name in metrics or ():
        if name not in table.metrics:
            raise ConfigError(f"{table.name} has no metric {name!r}; it has {', '.join(table.metrics)}")
    return tuple(metrics or table.metrics)
