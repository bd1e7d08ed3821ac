"""The requests that a metric yields, and the models that answer them.

A metric is a generator: it yields requests and receives typed answers. It does not wait, read or send.

| request    | asks for                                   | is answered with                     |
| ---------- | ------------------------------------------ | ------------------------------------ |
| `Generate` | one or more replies of the judge           | a tuple of `Reply`, one for each draw |
| `Compare`  | cosines between an anchor and some texts   | a tuple of `float | None`            |
| `Rate`     | a scorer's numbers for pairs of texts      | a tuple of `float`                   |
| `Count`    | counts of a library for texts              | counts by name, each a tuple of `int` |
| `Segment`  | the sentences of a text                    | a tuple of `str`                     |
| `Review`   | the final verdicts                         | `Judged`                             |
| `Part`     | another metric's measurement of the sample | `Measurement`                        |
| `Fork`     | several generators, run concurrently       | a tuple of their results             |
"""

from collections.abc import Awaitable, Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, Protocol, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from ragmetrics_core.measurement import Decision, Labels
from ragmetrics_core.parsers import ANYTHING, Answer, Expected, Reading
from ragmetrics_core.prompts import Message, Prompt

__all__ = [
    "Compare",
    "Completion",
    "Count",
    "Embedder",
    "Fork",
    "Generate",
    "Judge",
    "Narrow",
    "Part",
    "Rate",
    "Reply",
    "Request",
    "Review",
    "Scorer",
    "Segment",
    "Steps",
    "TextFunction",
    "Unread",
    "Usage",
    "fixed_property",
]

if TYPE_CHECKING:
    # Under its own name pyright does not take it for a match of a protocol's property.
    fixed_property = property
else:
    fixed_property = cached_property

A = TypeVar("A", bound=Answer)
A_co = TypeVar("A_co", bound=Answer, covariant=True)
T = TypeVar("T")


class Usage(NamedTuple):
    """Tokens that a call used, as the model counted them."""

    prompt_tokens: int
    completion_tokens: int


_LARGEST_COUNT = 2**53
_LONGEST_NAME = 300


@dataclass(frozen=True, slots=True)
class Completion:
    """One reply of a judge.

    Metadata from the server is sanitized at every entry point: long names are cut, and invalid names and
    counts become None.

    Attributes:
        text: the raw reply.
        model: the server's name of the model, at most 300 characters.
        usage: tokens used by the call, each from 0 to 2**53; in a call with several draws, only the first has
            it.
        finish_reason: why the reply ended ("stop", "length", ...), at most 300 characters; None if unknown.
        held_to: constraint on the reply: "json_schema" or "json_object"; "graded" for a reply of a judge of
            this library, which may have probabilities; None if unconstrained.

    >>> Completion("yes", usage=Usage(-1, 10**400)).usage
    """

    text: str
    model: str = ""
    usage: Usage | None = None
    finish_reason: str | None = None
    held_to: str | None = None

    def __post_init__(self) -> None:
        usage, model, reason = self.usage, self.model, self.finish_reason
        if usage is not None and not (_is_count(usage[0]) and _is_count(usage[1])):
            object.__setattr__(self, "usage", None)
        if not _is_name(model):
            object.__setattr__(self, "model", _name(model) or "")
        if reason is not None and not _is_name(reason):
            object.__setattr__(self, "finish_reason", _name(reason))


def _is_count(value: object) -> bool:
    return type(value) is int and 0 <= value <= _LARGEST_COUNT


def _is_name(value: object) -> bool:
    return isinstance(value, str) and len(value) <= _LONGEST_NAME and value.isascii()


def _name(value: object) -> str | None:
    """A text cut to the length of a name, in valid UTF-8; None for other values."""
    if not isinstance(value, str):
        return None
    return value[:_LONGEST_NAME].encode("utf-8", "replace").decode("utf-8")


class Unread(NamedTuple):
    """An unusable or incomplete reply that is followed by another question.

    Attributes:
        reply: the reply.
        objections: the objections to it.
        draw: number of its draw.
        judge: the sub-judge that wrote it, if the run's judge has several.
        expected: constraints on the next reply, with the remaining numbers.
        before: the unusable reply before it in the same conversation.
    """

    reply: str
    objections: tuple[str, ...]
    draw: int
    judge: str | None
    expected: Expected
    before: "Unread | None" = None


class Generate(NamedTuple, Generic[A_co]):
    """Ask the judge.

    Attributes:
        prompt: the prompt.
        variables: values of its variables; see `Prompt.render`.
        expected: constraints on the reply. The caller gives the numbers or the scale; the driver sets the
            rest.
        draw: number of the first draw; draws of the same prompt with different numbers are different calls.
        draws: number of replies. A judge may return fewer; the driver asks for the rest.
        again: number of earlier requests in the same conversation. At the limit the driver returns no reply.
        attempts: maximum number of requests; None for the run's own limit.
        follows: the unusable replies, if this asks again; each needs one reply.
        passed_on: whether this asks for verdicts that an earlier reply left to another judge.
        votes: whether the reply is a verdict, for which the driver may return one reply for each vote.
        messages: the rendered prompt, for the judge; set by the driver.
        digest: digest of the messages; set by the driver.
    """

    prompt: Prompt[A_co]
    variables: Mapping[str, object]
    expected: Expected = ANYTHING
    draw: int = 0
    draws: int = 1
    again: int = 0
    passed_on: bool = False
    votes: bool = False
    attempts: int | None = None
    follows: tuple[Unread, ...] = ()
    messages: tuple[Message, ...] = ()
    digest: str = ""

    @property
    def schema(self) -> dict[str, Any] | None:
        """The JSON schema of the reply, for models with constrained decoding; None for lines of text."""
        return self.prompt.answer.reply_schema(self.expected) if self.expected.as_json else None


class Reply(NamedTuple, Generic[A_co]):
    """A reply as the metric sees it.

    Attributes:
        reading: the result of reading it.
        text: the raw reply.
        draw: number of its draw.
        judge: the sub-judge that wrote it, if the run's judge has several.
        prompt: name of the prompt in the record.
        expected: constraints on the reply, as the driver set them.
    """

    reading: Reading[A_co]
    text: str = ""
    draw: int = 0
    judge: str | None = None
    prompt: str = ""
    expected: Expected = ANYTHING


@dataclass(frozen=True, slots=True)
class Compare:
    """Ask for the cosine of each text with the anchor; None for a zero vector."""

    anchor: str
    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Rate:
    """Ask the scorer for a number for each pair of texts."""

    pairs: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Count:
    """Ask for counts of a library for an answer and its references; no model is involved.

    The record keeps the counts with the library's version and settings, so the score can be recomputed
    without the library.

    Attributes:
        procedure: the counts: "bleu", "chrf", "rouge" or "meteor".
        answer: the text under test.
        references: the texts to compare it with.
        settings: settings of the procedure, by name.
    """

    procedure: str
    answer: str
    references: tuple[str, ...]
    settings: Mapping[str, Any] = field(default_factory=dict[str, Any])


class Segment(NamedTuple):
    """Ask for the sentences of a text; the record keeps them."""

    text: str


class Review(NamedTuple):
    """Submit decisions on texts of one kind; a person's corrections are applied, and the record keeps both.

    Attributes:
        decisions: one for each text, in order.
        about: the kind of texts.
        labels: names of a positive and a negative verdict.
        declining: whether the first decision says that the answer under test declines.
        notes: findings in the texts that do not count, with reasons.
    """

    decisions: tuple[Decision, ...]
    about: str
    labels: Labels
    declining: bool = False
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Part:
    """Another metric of the catalogue, measured on the same sample as a part of this one.

    Attributes:
        metric: its name.
        variant: its variant; None for the metric's default.
        settings: its settings, by name.
        prompts: prompts that replace those of the same name.
        reference: the reference to measure against, if the sample has several; set by the metric that asks
            for the part, not a setting.
        reference_number: number of this reference, for the record.
    """

    metric: str
    variant: str | None = None
    settings: Mapping[str, Any] = field(default_factory=dict[str, Any])
    prompts: Mapping[str, Any] = field(default_factory=dict[str, Any])
    reference: str | None = None
    reference_number: int | None = None


@dataclass(frozen=True, slots=True)
class Fork:
    """Run several generators concurrently.

    Attributes:
        branches: the generators.
        enough: function that says whether a branch's result is sufficient. With it the branches run one after
            the other, and stop at the first sufficient result.
    """

    branches: tuple["Steps[Any]", ...]
    enough: Callable[[Any], bool] | None = None


Request = Generate[Any] | Compare | Rate | Count | Segment | Review | Part | Fork
Steps = Generator[Request, Any, T]
# From a prompt to a reply, synchronously or not: what `as_judge` makes a judge of.
TextFunction = Callable[[str], str | Awaitable[str]]


@runtime_checkable
class Judge(Protocol):
    """A model that answers prompts.

    `identity` names the endpoint, the model and the settings that change its replies; judges with the same
    identity share cached replies.
    """

    @property
    def identity(self) -> str:
        """Endpoint, model and bound settings."""
        ...

    def agenerate(self, request: Generate[Any]) -> Awaitable[Sequence[Completion]]:
        """Reply to `request.messages` with 1 to `request.draws` completions.

        Raises:
            ModelError: the model did not answer.
        """
        ...


@runtime_checkable
class Narrow(Protocol):
    """A judge with a limit on concurrent calls; further calls would wait in its own queue."""

    @property
    def concurrency(self) -> int:
        """Maximum number of concurrent calls."""
        ...


@runtime_checkable
class Embedder(Protocol):
    """A model that turns texts into vectors."""

    @property
    def identity(self) -> str:
        """Endpoint and model."""
        ...

    def aembed(self, texts: Sequence[str]) -> Awaitable[NDArray[np.floating[Any]]]:
        """One row for each text, shape (n, d).

        Raises:
            ModelError: the model did not answer.
        """
        ...


@runtime_checkable
class Scorer(Protocol):
    """A model that rates pairs of texts (cross-encoder, entailment, answer equivalence)."""

    @property
    def identity(self) -> str:
        """The model and its bound settings."""
        ...

    def arate(self, pairs: Sequence[tuple[str, str]]) -> Awaitable[Sequence[float]]:
        """One finite number for each pair.

        Raises:
            ModelError: the model did not answer.
        """
        ...
