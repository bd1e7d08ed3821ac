"""The verdicts of one reply on numbered statements."""

from collections.abc import Mapping
from typing import Any, Self

from ragmetrics_core.parsers._exact import JsonAnswer
from ragmetrics_core.parsers._form import TEXT, Schema, Wanted, items_of, object_of
from ragmetrics_core.parsers._json_text import Fit, fits, outside_json, read_json
from ragmetrics_core.parsers._numbered_verdict import NumberedVerdict
from ragmetrics_core.parsers._own_text import own_text
from ragmetrics_core.parsers._reading import Declined, Hints, Reading
from ragmetrics_core.parsers._reply_text import has_content, unfinished
from ragmetrics_core.parsers._verdict_json import exact_verdicts, verdicts_in
from ragmetrics_core.parsers._verdict_text import read_verdict_text
from ragmetrics_core.shapes import Json

__all__ = ["DecliningVerdict", "VerdictList"]


class VerdictList(JsonAnswer):
    """The verdicts of one reply, in its order; numbers may repeat, miss or be out of range (see `align`).

    Attributes:
        verdicts: the verdicts.
        passed_on: numbers that the reply leaves to another judge; None for none.
    """

    verdicts: tuple[NumberedVerdict, ...]
    passed_on: tuple[int, ...] | None = None

    @classmethod
    def form(cls, wanted: Wanted) -> Mapping[str, Schema]:
        """What the form holds, by name."""
        said = {"type": "string", "enum": ["yes", "no"]} if wanted.shows('"yes"', '"no"') else TEXT

        def verdict(number: Schema) -> Schema:
            return object_of(wanted, {"number": number, "reason": TEXT, "evidence": TEXT, "verdict": said})

        numbers = wanted.numbers
        if wanted.fixed and numbers:
            fixed = [verdict({"const": number}) for number in numbers]
            size = {"minItems": len(numbers), "maxItems": len(numbers)}
            return {"verdicts": {"type": "array", "prefixItems": fixed, **size}}
        number = {"type": "integer", "enum": list(numbers)} if numbers else {"type": "integer"}
        return {"verdicts": items_of(verdict(number), len(numbers) or None)}

    @classmethod
    def read_freely(cls, text: str, hints: Hints) -> Reading[Self]:
        """Read JSON, else a final list, "Verdict:" lines, a table, numbered lines, or one bare verdict.

        A verdict without a number counts only where its place is certain: no verdict of the reply has a
        number, and there are as many as were asked for.
        """
        reply = own_text(text, hints)
        reading = read_json(
            reply,
            lambda value: cls._shape(value, hints),
            cls,
            hints=hints,
            cut_shape=lambda value: cls._shape(value, hints, cut=True),
        )
        if reading is not None:
            return (
                reading
                if reading.value is None or reading.rule == "json"
                else cls._agreed(reading.value, reading, reply, hints)
            )
        found = read_verdict_text(reply, hints)
        if found is None:
            return Reading(None, "unread")
        if hints.stopped is not False and not unfinished(reply, hints):
            return Reading(cls(verdicts=found.verdicts), found.rule, found.dropped)
        # the last one may have ended otherwise; its number is asked about again
        last = found.verdicts[-1].number
        verdicts = tuple([one for one in found.verdicts if one.number != last])
        notes = (*found.dropped, f"verdict {last}: the reply ends in the middle of it")
        return Reading(cls(verdicts=verdicts), found.rule, notes, cut=True)

    @classmethod
    def in_form(cls, value: dict[str, Json]) -> Fit | None:
        """What an object says that is of the prompt's form to the letter."""
        verdicts = exact_verdicts(value)
        return None if verdicts is None else Fit(cls.exactly(verdicts=verdicts, passed_on=None))

    @classmethod
    def _shape(cls, value: Json, hints: Hints, *, cut: bool = False) -> Fit | None:
        """The verdicts that a JSON value lists; of one that was cut those that are sure to be complete."""
        found = verdicts_in(value, hints, cut=cut)
        if found is None:
            return None
        return Fit(cls(verdicts=found.verdicts, passed_on=found.passed_on or None), found.dropped)

    @classmethod
    def _agreed(cls, value: Self, reading: Reading[Self], reply: str, hints: Hints) -> Reading[Self]:
        """The verdicts that nothing else in the reply contradicts: no other JSON, and no text beside it."""
        said: list[tuple[int, bool]] = [(one.number, one.supported) for one in value.verdicts]
        for other in fits(reply, lambda value: cls._shape(value, hints), cls, hints):
            said += [(one.number, one.supported) for one in other.verdicts]
        beside = outside_json(reply)
        if has_content(beside) and (found := read_verdict_text(beside, hints)) is not None:
            is_introduction = found.rule == "bare" and beside.strip().partition("\n")[0].rstrip(
                " `*_"
            ).endswith(":")
            said += [] if is_introduction else [(one.number, one.supported) for one in found.verdicts]
        contrary = sorted({number for number, supported in said if (number, not supported) in said})
        if not contrary:
            return reading
        verdicts = tuple([one for one in value.verdicts if one.number not in contrary])
        notes = [f"verdict {number}: the reply gives two contrary ones" for number in contrary]
        left = value.model_copy(update={"verdicts": verdicts})
        return reading._replace(value=left, dropped=(*reading.dropped, *notes))

    def written(self) -> dict[str, Any]:
        """The value as it goes on record."""
        if not self.is_ours():
            return super().written()
        verdicts = [
            {
                "number": one.number,
                "supported": one.supported,
                "reason": one.reason,
                "evidence": [*one.evidence],
                "confidence": one.confidence,
                "unsupported": None if one.unsupported is None else [*one.unsupported],
            }
            for one in self.verdicts
        ]
        return {"verdicts": verdicts, "passed_on": None if self.passed_on is None else [*self.passed_on]}


class DecliningVerdict(VerdictList):
    """The verdict on one remark: that the answer declines to answer."""

    def abstention(self) -> Declined | None:
        """What the first verdict says; None when there is none."""
        if not self.verdicts:
            return None
        return Declined(declined=self.verdicts[0].supported, reason=self.verdicts[0].reason)
