"""A score: the view of a record that answers "how much, and why?"."""

from dataclasses import dataclass

from ragmetrics_core.record import PartResult, Record, Status

__all__ = ["Score"]


@dataclass(frozen=True, slots=True)
class Score:
    """One score; `record` is its proof.

    `value` is a float exactly when `status` is "ok"; every other status says why there is none.
    """

    record: Record

    @property
    def value(self) -> float | None:
        """The score, None unless the status is "ok"."""
        return self.record.value

    @property
    def status(self) -> Status:
        """How the measurement ended."""
        return self.record.status

    @property
    def reason(self) -> str | None:
        """Why there is no value."""
        return self.record.reason

    @property
    def bounds(self) -> tuple[float, float] | None:
        """The lowest and highest value that missing verdicts leave open, when the status is "incomplete"."""
        return self.record.bounds

    @property
    def metric(self) -> str:
        """The metric's name."""
        return self.record.metric

    @property
    def variant(self) -> str:
        """The metric's variant, with its version."""
        return self.record.variant

    @property
    def counts(self) -> dict[str, int | float]:
        """The numbers that entered the formula."""
        return self.record.counts

    @property
    def formula(self) -> str:
        """The formula with its numbers: "2 / 3 = 0.667"."""
        return self.record.formula

    def explain(self) -> str:
        """The statements, verdicts, reasons and the formula as readable text."""
        record = self.record
        lines = [f"{record.signature} of {record.sample_id}: {self.headline}"]
        lines += [f"  {line}" for part in record.parts for line in _part_lines(part)]
        for verdict in record.verdicts:
            cosine = "" if verdict.cosine is None else f" (cosine {verdict.cosine:.3f})"
            lines.append(f"{verdict.number:>3}. {verdict.label}: {verdict.text}{cosine}")
            if verdict.overruled is not None:
                did = "confirmed" if verdict.overruled == verdict.supported else "overruled"
                lines.append(f"     a person {did} the judge's {'yes' if verdict.overruled else 'no'}")
            if verdict.tally:
                lines.append(f"     {verdict.tally}")
            if verdict.reason:
                lines.append(f"     {verdict.reason}")
            for evidence in verdict.evidence:
                where = f"chunk {evidence.span.chunk}" if evidence.span else "found nowhere"
                lines.append(f"     “{evidence.quote}” ({where})")
        lines += [f"  rated {rating:g}: {reason or 'no reason given'}" for rating, reason in record.ratings]
        lines += [f"  not counted: {note}" for note in record.notes]
        if record.abstained and record.abstained.declined:
            lines.append(f"  the answer declines: {record.abstained.reason or 'no reason given'}")
        return "\n".join(lines)

    @property
    def headline(self) -> str:
        """The outcome in one line: the formula, or the status with its reason."""
        if self.status == "ok":
            return self.formula
        text = f"{self.status} ({self.reason})" if self.reason else self.status
        return f"{text}, {self.formula}" if self.formula else text

    def __repr__(self) -> str:
        """The score in one line."""
        return f"Score({self.record.sample_id!r}, {self.record.signature!r}, {self.headline})"


def _part_lines(part: PartResult) -> list[str]:
    inner = [f"  {line}" for each in part.parts for line in _part_lines(each)]
    return [f"{part.metric}: {part.formula or part.reason or 'undefined'}", *inner]
