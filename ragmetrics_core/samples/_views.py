"""Views: what a metric needs of a sample, as a type."""

from dataclasses import MISSING, dataclass, field, fields
from functools import cache
from typing import Any, Self

from ragmetrics_core.errors import SampleError
from ragmetrics_core.samples import Sample

__all__ = [
    "Answered",
    "Asked",
    "Attributed",
    "Compared",
    "Complete",
    "Grounded",
    "MissingField",
    "RankedIds",
    "RankedTexts",
    "Referenced",
    "ReferencedContexts",
    "Retrieved",
    "UnverifiedContexts",
    "View",
    "Worded",
]


class MissingField(SampleError):
    """A metric needs a field that this sample does not have; `field` is its name."""

    def __init__(self, field: str) -> None:
        super().__init__(field)
        self.field = field

    def __str__(self) -> str:
        """Say which field is missing."""
        return f"the sample has no {self.field}"


class UnverifiedContexts(MissingField):
    """The request contradicts the contexts that the sample was given, and they are not to be used then."""

    def __init__(self) -> None:
        super().__init__("contexts")

    def __str__(self) -> str:
        """Say why they are not used."""
        return "contexts of the sample are not in what the model was sent"


@dataclass(frozen=True, slots=True)
class View:
    """What a metric needs of a sample.

    A field without a default is needed and never None. One with a default is taken where the sample has it.
    """

    language: str | None = field(default=None, kw_only=True)

    @classmethod
    @cache
    def required(cls) -> tuple[str, ...]:
        """Names of the sample's fields that the view cannot do without."""
        return tuple(item.name for item in fields(cls) if item.default is MISSING)

    @classmethod
    @cache
    def optional(cls) -> tuple[str, ...]:
        """Names of the fields that it takes where the sample has them; among them is the language."""
        return tuple(item.name for item in fields(cls) if item.default is not MISSING)

    @classmethod
    def of(cls, sample: Sample) -> Self:
        """Take the fields from a sample.

        Raises:
            MissingField: the sample lacks one of them.
        """
        values: dict[str, Any] = {}
        needed = cls.required()
        for name in needed + cls.optional():
            value = getattr(sample, name)
            if value is not None:
                values[name] = value
            elif name in needed:
                raise UnverifiedContexts if name == "contexts" and sample.is_withheld else MissingField(name)
        return cls(**values)


@dataclass(frozen=True, slots=True)
class Answered(View):
    """A question and its answer."""

    question: str
    answer: str


@dataclass(frozen=True, slots=True)
class Referenced(Answered):
    """A question, its answer and the expected answers, of which `reference` is the first."""

    reference: str
    references: tuple[str, ...] = ()


Asked = Referenced


@dataclass(frozen=True, slots=True)
class Grounded(Answered):
    """An answer and the contexts that it should rest on."""

    contexts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Complete(Grounded):
    """Question, answer, contexts and expected answer."""

    reference: str
    references: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Retrieved(View):
    """A question and what was retrieved for it."""

    question: str
    contexts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Attributed(Retrieved):
    """A question, what was retrieved for it and the expected answer."""

    reference: str
    references: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ReferencedContexts(View):
    """What was retrieved and the expected answer."""

    contexts: tuple[str, ...]
    reference: str
    references: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Compared(View):
    """An answer and the expected answers, of which `reference` is the first."""

    answer: str
    reference: str
    references: tuple[str, ...] = ()


Worded = Compared


@dataclass(frozen=True, slots=True)
class RankedIds(View):
    """The ids of what was retrieved, in rank order, and of what is relevant."""

    context_ids: tuple[str, ...]
    reference_context_ids: tuple[str, ...]
    reference_context_grades: tuple[float, ...] | None = None


@dataclass(frozen=True, slots=True)
class RankedTexts(View):
    """The retrieved chunks, in rank order, and those that are relevant."""

    contexts: tuple[str, ...]
    reference_contexts: tuple[str, ...]
    reference_context_grades: tuple[float, ...] | None = None
