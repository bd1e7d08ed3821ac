"""Views: the sample fields that a metric needs, as a type."""

from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields
from functools import cache
from typing import Any, Self

from ragmetrics_core.errors import SampleError
from ragmetrics_core.samples._citations import Citation
from ragmetrics_core.samples._history import Earlier, Turn
from ragmetrics_core.samples._sample import Sample

__all__ = [
    "Answered",
    "Asked",
    "Attributed",
    "Citing",
    "Compared",
    "Complete",
    "Grounded",
    "MissingField",
    "Posed",
    "Quizzed",
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
    """A metric needs a field that the sample lacks; `field` is its name."""

    def __init__(self, field: str) -> None:
        super().__init__(field)
        self.field = field

    def __str__(self) -> str:
        """The message with the missing field."""
        return f"the sample has no {self.field}"


class UnverifiedContexts(MissingField):
    """The request contradicts the sample's contexts, so they must not be used."""

    def __init__(self) -> None:
        super().__init__("contexts")

    def __str__(self) -> str:
        """The message with the reason."""
        return "contexts of the sample are not in what the model was sent"


@dataclass(frozen=True, slots=True)
class View:
    """The sample fields that a metric needs.

    A field without a default is required and never None. A field with a default is taken if the sample has
    it.
    """

    language: str | None = field(default=None, kw_only=True)

    @classmethod
    @cache
    def required(cls) -> tuple[str, ...]:
        """Names of the required fields."""
        return tuple(item.name for item in fields(cls) if item.default is MISSING)

    @classmethod
    @cache
    def optional(cls) -> tuple[str, ...]:
        """Names of the optional fields, including the language."""
        return tuple(item.name for item in fields(cls) if item.default is not MISSING)

    @classmethod
    def of(cls, sample: Sample, changed: Mapping[str, Any] | None = None) -> Self:
        """Take the fields from a sample.

        Args:
            sample: the sample.
            changed: values of fields in place of the sample's own.

        Raises:
            MissingField: the sample lacks a required field.
        """
        values: dict[str, Any] = {}
        needed = cls.required()
        for name in needed + cls.optional():
            value = changed[name] if changed and name in changed else getattr(sample, name)
            if value is not None:
                values[name] = value
            elif name in needed:
                raise UnverifiedContexts if name == "contexts" and sample.is_withheld else MissingField(name)
        return cls(**values)


@dataclass(frozen=True, slots=True)
class Posed(View):
    """A question, with the conversation before it if there is one."""

    question: str
    history: tuple[Turn, ...] = field(default=(), kw_only=True)

    @property
    def conversation(self) -> str:
        """The earlier turns as text, each with its role."""
        return "\n".join([f"{turn.role}: {turn.content}" for turn in self.history])


@dataclass(frozen=True, slots=True)
class Quizzed(Posed):
    """A question to answer and the expected answers; `reference` is the first."""

    reference: str
    references: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Answered(View):
    """A question and its answer."""

    question: str
    answer: str


@dataclass(frozen=True, slots=True)
class Referenced(Answered):
    """A question, its answer and the expected answers; `reference` is the first."""

    reference: str
    references: tuple[str, ...] = ()


Asked = Referenced


@dataclass(frozen=True, slots=True)
class Grounded(Answered):
    """An answer and the contexts that should support it.

    `unaccounted` are the texts in the model's request of which it is unknown whether they are evidence, and
    `earlier` is the conversation before the question.
    """

    contexts: tuple[str, ...]
    unaccounted: tuple[str, ...] = field(default=(), kw_only=True)
    earlier: Earlier = field(default=Earlier(), kw_only=True)


@dataclass(frozen=True, slots=True)
class Citing(Grounded):
    """An answer with its citations, if they are known apart from markers in it, and the cited contexts."""

    citations: tuple[Citation, ...] = field(default=(), kw_only=True)
    context_ids: tuple[str, ...] = field(default=(), kw_only=True)


@dataclass(frozen=True, slots=True)
class Complete(Grounded):
    """Question, answer, contexts and expected answer."""

    reference: str
    references: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Retrieved(View):
    """A question and its retrieved contexts; `unaccounted` as for `Grounded`."""

    question: str
    contexts: tuple[str, ...]
    unaccounted: tuple[str, ...] = field(default=(), kw_only=True)


@dataclass(frozen=True, slots=True)
class Attributed(Retrieved):
    """A question, its retrieved contexts and the expected answer."""

    reference: str
    references: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ReferencedContexts(View):
    """Retrieved contexts and the expected answer."""

    contexts: tuple[str, ...]
    reference: str
    references: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Compared(View):
    """An answer and the expected answers; `reference` is the first."""

    answer: str
    reference: str
    references: tuple[str, ...] = ()


Worded = Compared


@dataclass(frozen=True, slots=True)
class RankedIds(View):
    """Ids of the retrieved chunks, in rank order, and of the relevant chunks."""

    context_ids: tuple[str, ...]
    reference_context_ids: tuple[str, ...]
    reference_context_grades: tuple[float, ...] | None = None


@dataclass(frozen=True, slots=True)
class RankedTexts(View):
    """Retrieved chunks, in rank order, and relevant chunks."""

    contexts: tuple[str, ...]
    reference_contexts: tuple[str, ...]
    reference_context_grades: tuple[float, ...] | None = None
