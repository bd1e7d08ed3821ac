"""What a parser gives back: the value, the rule that read it, and what was left out."""

from functools import cache
from typing import Any, Final, Generic, NamedTuple, Self, TypeVar

from pydantic import BaseModel, ConfigDict

from ragmetrics_core.parsers._filling import filled
from ragmetrics_core.parsers._form import Schema, Wanted

__all__ = ["NO_HINTS", "Answer", "Declined", "Hints", "Reading", "exactly"]

T_co = TypeVar("T_co", covariant=True)
M = TypeVar("M", bound=BaseModel)
_set = object.__setattr__
_PARSERS = __name__.rpartition(".")[0]


def exactly(kind: type[M], /, **fields: object) -> M:
    """A frozen model of all its fields, which are of their types to the letter: none is checked."""
    made = kind.__new__(kind)
    _set(made, "__dict__", fields)
    _set(made, "__pydantic_fields_set__", _names(kind))
    _set(made, "__pydantic_extra__", None)
    _set(made, "__pydantic_private__", None)
    return made


@cache
def _names(kind: type[BaseModel]) -> set[str]:
    """The names of a model's fields: one set for all of its objects, which nothing changes."""
    return set(kind.model_fields)


class Reading(NamedTuple, Generic[T_co]):
    """A reply as it was read.

    Attributes:
        value: the typed value; None when no rule could read the text.
        rule: the name of the rule that read it ("json", "final_list", ...); "unread" when none did.
        dropped: what was seen in the reply and does not count, each with the reason.
        cut: whether the text ended inside its form. A list of verdicts keeps those that are complete; any
            other list has no value then, since a cut list is no shorter list.
    """

    value: T_co | None
    rule: str
    dropped: tuple[str, ...] = ()
    cut: bool = False


class Hints(NamedTuple):
    """What a parser may know about the question that was asked.

    Attributes:
        numbers: the numbers of the items that were asked about, in order; empty when none were.
        sample: the texts of the sample that the prompt showed; text rules ignore their lines.
        items: the texts of the items, in the order of their numbers.
        shown: the context chunks as the prompt showed them, with numbered sentences; the driver fills it in.
        form: the prompt's own text, in pieces between what it shows: a copy of it is no reply; filled in by
            the driver.
        stopped: whether the model stopped by itself, as its provider says: False when a limit cut the reply,
            None when nobody says; the driver fills it in.
    """

    numbers: tuple[int, ...] = ()
    sample: tuple[str, ...] = ()
    items: tuple[str, ...] = ()
    shown: tuple[str, ...] = ()
    form: tuple[str, ...] = ()
    stopped: bool | None = None

    @classmethod
    def counting(cls, count: int, sample: tuple[str, ...] = (), items: tuple[str, ...] = ()) -> Self:
        """Hints for items that were numbered from 1."""
        return cls(tuple(range(1, count + 1)), (*sample, *items), items)


NO_HINTS: Final = Hints()
"""Nothing is known of the question."""


class Declined(NamedTuple):
    """Whether an answer declines to answer, as a step saw it, and why it says so."""

    declined: bool
    reason: str | None = None


class Answer(BaseModel):
    """A typed reply of a judge: its fields are the JSON form that the prompt asks for."""

    # built at its first use: a program that imports the package may never read a reply
    model_config = ConfigDict(frozen=True, extra="ignore", defer_build=True)

    @classmethod
    def read(cls, text: str, hints: Hints) -> Reading[Self]:
        """Read a raw reply; never raises, whatever the text is."""
        raise NotImplementedError

    @classmethod
    def reply_schema(cls, wanted: Wanted) -> Schema | None:
        """The JSON schema of the form that a prompt asks for, for servers that can hold a model to one.

        It follows the form that the prompt shows, not the fields of this type: the prompt asks for
        `{"verdict": "yes"}` where the type has `supported: bool`. Names and their order are taken from the
        prompt's text, so that a prompt of the user that asks for another form is not held to ours.

        Returns:
            None where the form is not known, as of a type of the user's own that does not say it.
        """
        return None

    @classmethod
    def filled(cls, hints: Hints) -> str:
        """A reply of this type to such a question, with any content: it stands in where nobody is asked.

        It is read to a value, has a verdict for each number that is asked about, and is about as long as a
        judge's. By default it is the JSON of the fields; a type that reads another form overrides this.
        """
        return filled(cls, hints.numbers)

    @classmethod
    def exactly(cls, **fields: object) -> Self:
        """An answer of all its fields, which are of their types to the letter: nothing is checked.

        A type of the user's own may have fields and checks beside these: for that it is made as usual.
        """
        return exactly(cls, **fields) if cls.is_ours() else cls(**fields)

    @classmethod
    @cache
    def is_ours(cls) -> bool:
        """Whether it is a type of this library, and not of the user's own."""
        return cls.__module__.startswith(_PARSERS)

    def written(self) -> dict[str, Any]:
        """The value as it goes on record: what `model_dump(mode="json")` gives, sooner."""
        fields: dict[str, Any] = self.__pydantic_serializer__.to_python(self, mode="json")
        return fields

    def abstention(self) -> Declined | None:
        """Whether this reply says that the answer under test declines; None when it does not say."""
        return None
