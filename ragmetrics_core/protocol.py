"""The requests that a metric yields, and the models that answer them.

A metric is a generator: it yields requests and receives typed answers. It never waits, opens or sends.

| request    | asks for                                   | is answered with                     |
| ---------- | ------------------------------------------ | ------------------------------------ |
| `Generate` | one or more replies of the judge           | a tuple of `Reply`, one for each draw |
| `Compare`  | cosines between an anchor and some texts   | a tuple of `float | None`            |
| `Rate`     | a scorer's numbers for pairs of texts      | a tuple of `float`                   |
| `Count`    | what a library counts in texts             | counts by name, each a tuple of `int` |
| `Segment`  | the sentences of a text                    | a tuple of `str`                     |
| `Review`   | the verdicts that count                    | `Judged`                             |
| `Part`     | another metric's measurement of the sample | `Measurement`                        |
| `Fork`     | several generators, run side by side       | a tuple of their results             |
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

    What a server says beside the text is held to what it can be, at every door by which a reply comes in:
    what is no name is unknown, a longer one is cut, and so are counts that are no counts.

    Attributes:
        text: the raw reply.
        model: the model that wrote it, as the server names it: at most 300 characters.
        usage: tokens used by the call, each from 0 to 2**53; in a call with several draws, given with the
            first only.
        finish_reason: why the reply ended ("stop", "length", ...), None when unknown: at most 300 characters.
        held_to: what the request held the reply to: "json_schema" or "json_object"; "graded" for one by a
            judge of this library, which may carry probabilities; None for nothing.

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
    """A text cut to the length of a name, in characters that UTF-8 can carry; None for what is no text."""
    if not isinstance(value, str):
        return None
    return value[:_LONGEST_NAME].encode("utf-8", "replace").decode("utf-8")


class Unread(NamedTuple):
    """A reply that could not be used, or not whole, and is followed by another question.

    Attributes:
        reply: the reply.
        objections: why it could not be used.
        draw: its draw.
        judge: whose it is, where the run's judge is made of several.
        expected: what the next reply is held to: the numbers that are left.
        before: the reply before it in the same conversation, which could not be used either.
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
        prompt: what to ask.
        variables: what to fill in; see `Prompt.render`.
        expected: what the reply must be: who asks gives the numbers that are asked about, or the scale,
            and the driver fills in the rest.
        draw: the number of the first draw: draws of the same prompt with other numbers are other calls.
        draws: how many replies are wanted. A judge may return fewer; the driver asks for the rest.
        again: how often this was asked before, in the same conversation; the driver answers with no reply at
            all when that is often enough.
        attempts: how often it may be asked in all; None for as often as the run says.
        follows: the replies that could not be used, when this asks once more: one reply is wanted for each.
        passed_on: this asks for what an earlier reply left to another judge.
        votes: the reply is a verdict: the driver may answer with as many replies as the run has votes.
        messages: the rendered prompt; filled in by the driver, for the judge.
        digest: digest of the messages; filled in by the driver.
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
        """The JSON schema of the reply's form, for models that can be held to one; None for lines of text."""
        return self.prompt.answer.reply_schema(self.expected) if self.expected.as_json else None


class Reply(NamedTuple, Generic[A_co]):
    """A reply as the metric sees it.

    Attributes:
        reading: what was read.
        text: the raw reply.
        draw: its draw.
        judge: whose it is, where the run's judge is made of several.
        prompt: the prompt that was asked, as the record names it.
    """

    reading: Reading[A_co]
    text: str = ""
    draw: int = 0
    judge: str | None = None
    prompt: str = ""


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
    """Ask for what a library counts in an answer and its references; no model is involved.

    The counts become part of the record, with the library's version and settings, so that the score can be
    derived again without the library.

    Attributes:
        procedure: what is counted: "bleu", "chrf", "rouge" or "meteor".
        answer: the text under test.
        references: the texts that it is compared with.
        settings: settings of the procedure, by name.
    """

    procedure: str
    answer: str
    references: tuple[str, ...]
    settings: Mapping[str, Any] = field(default_factory=dict[str, Any])


class Segment(NamedTuple):
    """Ask for the sentences of a text; the split becomes part of the record."""

    text: str


class Review(NamedTuple):
    """Hand in decisions on texts of a kind; a person's corrections are applied, the record keeps both.

    Attributes:
        decisions: one for each text, in order.
        about: what the texts are.
        labels: what a positive and a negative verdict are called.
        declining: the first decision says whether the answer under test declines to answer.
        notes: what was seen in the texts and does not count, with reasons.
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
        variant: its variant, the metric's default one when None.
        settings: its settings, by name.
        prompts: prompts that replace those of the same name.
        reference: the reference that it is measured against, where the sample has several; set by the metric
            that asks for the part, and no setting of it.
        reference_number: which of them that is, for the record.
    """

    metric: str
    variant: str | None = None
    settings: Mapping[str, Any] = field(default_factory=dict[str, Any])
    prompts: Mapping[str, Any] = field(default_factory=dict[str, Any])
    reference: str | None = None
    reference_number: int | None = None


@dataclass(frozen=True, slots=True)
class Fork:
    """Run several generators side by side, each at its own pace.

    Attributes:
        branches: the generators.
        enough: whether a branch's result leaves nothing to ask. With it the branches run one after the
            other, and those after the first such result do not run at all.
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

    `identity` names the endpoint, the model and the settings that change its replies: replies of judges
    with the same identity may stand for one another.
    """

    @property
    def identity(self) -> str:
        """Endpoint, model and bound settings."""
        ...

    def agenerate(self, request: Generate[Any]) -> Awaitable[Sequence[Completion]]:
        """Reply to `request.messages`: at least one and at most `request.draws` completions.

        Raises:
            ModelError: the model did not answer.
        """
        ...


@runtime_checkable
class Narrow(Protocol):
    """A judge that answers only so many calls at a time; more would only wait in its own queue."""

    @property
    def concurrency(self) -> int:
        """How many calls it works on at a time."""
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
    """A model that gives a number for a pair of texts (cross-encoder, entailment, answer equivalence)."""

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
