"""The flat verdict log: one row for each verdict of a run; tables as JSON lines or as CSV."""

import csv
import json
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ragmetrics_core.measurement import Evidence, Verdict
from ragmetrics_core.records import Record
from ragmetrics_core.runs.confusion_counts import CountRow

if TYPE_CHECKING:
    from _typeshed import SupportsWrite

__all__ = ["VerdictRow", "csv_cell", "verdict_rows", "write_csv", "write_jsonl"]

# What makes a spreadsheet take a cell for a formula, or skips to what does.
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


class VerdictRow(NamedTuple):
    """One verdict of one score.

    Attributes:
        sample: the sample's id.
        metric: the metric's signature.
        number: the verdict's number in its record, from 1.
        about: what kind of text it is about.
        text: the text.
        verdict: the decision that counts; None if there is none.
        label: the decision in words.
        reason: the judge's reason.
        evidence: a quote of the judge: the first one found in its source, else the first.
        chunk, start, end: position of the quote: chunk from 1, characters from 0; None if it was not found.
        quotes: number of quotes that the judge gave.
        cosine: the similarity of the text.
        overruled: the judge's own decision, if a person overruled it.
    """

    sample: str
    metric: str
    number: int
    about: str
    text: str
    verdict: bool | None
    label: str
    reason: str | None
    evidence: str | None
    chunk: int | None
    start: int | None
    end: int | None
    quotes: int
    cosine: float | None
    overruled: bool | None


def verdict_rows(records: Iterable[Record]) -> Iterator[VerdictRow]:
    """The verdicts of records, in their order; a record without verdicts gives no row."""
    for record in records:
        for verdict in record.verdicts:
            quoted = _quoted(verdict)
            span = quoted.span if quoted else None
            yield VerdictRow(
                sample=record.sample_id,
                metric=record.signature,
                number=verdict.number,
                about=verdict.about,
                text=verdict.text,
                verdict=verdict.supported,
                label=verdict.label,
                reason=verdict.reason,
                evidence=quoted.quote if quoted else None,
                chunk=span.chunk if span else None,
                start=span.start if span else None,
                end=span.end if span else None,
                quotes=len(verdict.evidence),
                cosine=verdict.cosine,
                overruled=verdict.overruled,
            )


def write_jsonl(rows: Iterable[VerdictRow | CountRow], file: "SupportsWrite[str]") -> int:
    """Write one JSON object per line; returns the number of rows."""
    count = 0
    for row in rows:
        file.write(json.dumps(row._asdict(), ensure_ascii=False, allow_nan=False) + "\n")
        count += 1
    return count


def write_csv(
    rows: Iterable[VerdictRow | CountRow],
    file: "SupportsWrite[str]",
    *,
    fields: Sequence[str] = VerdictRow._fields,
) -> int:
    """Write a header and one line for each row; returns the number of rows.

    An absent value is an empty cell. A text that a spreadsheet would run as a formula gets an apostrophe
    before it, which the spreadsheet does not show.
    """
    # lines end as RFC 4180 says; with a lone line feed a carriage return within a text would not be quoted
    table = csv.writer(file, lineterminator="\r\n")
    table.writerow(fields)
    count = 0
    for row in rows:
        table.writerow(map(csv_cell, row))
        count += 1
    return count


def _quoted(verdict: Verdict) -> Evidence | None:
    quotes = [each for each in verdict.evidence if each.quote]
    return next((each for each in quotes if each.span), quotes[0] if quotes else None)


def csv_cell(value: str | float | bool | None) -> str:
    """A value as a cell of a CSV file; see `write_csv`."""
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case str():
            return f"'{value}" if value.startswith(_FORMULA_STARTS) else value
        case _:
            return str(value)
