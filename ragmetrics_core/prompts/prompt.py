"""A prompt: a template with exact variables, and the type of its answer.

Templates are data. They are filled in one pass, so inserted text is never read as a template again, and
the fences that hold untrusted text (`<answer> ... </answer>`) cannot be closed from inside it.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import sha256
from itertools import count
from typing import Generic, Literal, NamedTuple, Self, TypeVar

from ragmetrics_core.errors import PromptError
from ragmetrics_core.parsers import Answer, split_sentences

__all__ = ["Item", "Message", "Prompt", "Split", "digest_of"]

A_co = TypeVar("A_co", bound=Answer, covariant=True)

Split = Callable[[str], Sequence[str]]
Value = "str | int | Sequence[str] | Sequence[Item]"

_VARIABLE = re.compile(r"\{\{ *([a-z_]+) *\}\}")
_FENCE = re.compile(r"</?([a-z_]+)>")
_FENCES = frozenset({"question", "answer", "reference", "contexts", "chunk", "items"})


class Message(NamedTuple):
    """One message of a conversation with a judge."""

    role: Literal["system", "user", "assistant"]
    content: str


class Item(NamedTuple):
    """A numbered text that a prompt asks about."""

    number: int
    text: str


def digest_of(*texts: str) -> str:
    """The first 128 bits of the SHA-256 of the texts, as 32 hexadecimal digits."""
    state = sha256()
    for text in texts:
        data = text.encode("utf-8", "surrogatepass")
        state.update(len(data).to_bytes(8))
        state.update(data)
    return state.hexdigest()[:32]


@dataclass(frozen=True, kw_only=True)
class Prompt(Generic[A_co]):
    """What is asked in one step: a template for each role and the type of the answer.

    Attributes:
        name: the prompt's name; a file `<name>.v<version>.md` holds its text.
        version: rises with every change of the text.
        answer: the type of the answer, which also knows how to read a raw reply.
        system: template of the system message.
        user: template of the user message.
        again: what is added to the user message when missing items are asked for once more.
        language: the language of the text (ISO 639), None for the default English one.
        translations: the same prompt in other languages, by language.
    """

    name: str
    version: int
    answer: type[A_co]
    system: str = field(repr=False)
    user: str = field(repr=False)
    again: str = field(default="", repr=False)
    language: str | None = None
    translations: Mapping[str, Self] = field(default_factory=dict, repr=False)

    @property
    def id(self) -> str:
        """Name, version and language: `statements.v1`, `statements.v1.de`."""
        return f"{self.name}.v{self.version}" + (f".{self.language}" if self.language else "")

    @cached_property
    def digest(self) -> str:
        """Digest of the three templates; any change of the text changes it."""
        return digest_of(self.system, self.user, self.again)

    @cached_property
    def variables(self) -> frozenset[str]:
        """The names that `render` needs, no more and no fewer."""
        return frozenset(_VARIABLE.findall(self.system + self.user + self.again))

    @cached_property
    def _fence(self) -> re.Pattern[str]:
        names = _FENCES | set(_FENCE.findall(self.user))
        return re.compile(rf"<(?=\s*/?\s*(?:{'|'.join(sorted(names))})\b)", re.IGNORECASE)

    def in_language(self, language: str | None) -> "Prompt[A_co]":
        """The translation of this prompt, or the prompt itself when there is none."""
        return self.translations.get(language, self) if language else self

    def with_text(
        self, *, system: str, user: str, again: str = "", version: int | None = None
    ) -> "Prompt[A_co]":
        """The same question in other words; the variables must stay the same.

        Raises:
            PromptError: a variable of this prompt is missing in the new text, or the text has one more.
        """
        version = self.version if version is None else version
        changed = replace(
            self, system=system, user=user, again=again, version=version, language=None, translations={}
        )
        self.check_variables(changed.variables)
        return changed

    def check_variables(self, given: Iterable[str]) -> None:
        """Raise `PromptError` unless exactly the template's variables are given."""
        given = frozenset(given)
        if given != self.variables:
            missing, extra = sorted(self.variables - given), sorted(given - self.variables)
            parts = [f"lacks {missing}"] * bool(missing) + [f"has no place for {extra}"] * bool(extra)
            raise PromptError(
                f"prompt {self.id}: expected the variables {sorted(self.variables)}; it {' and '.join(parts)}"
            )

    def render(
        self, variables: Mapping[str, object], *, split: Split = split_sentences, again: bool = False
    ) -> tuple[Message, ...]:
        """Fill the templates.

        Args:
            variables: a text, a number, the context chunks (a sequence of texts, shown with numbered
                sentences) or numbered items, by name; exactly those that the templates name.
            split: splits a context chunk into the sentences that are numbered.
            again: add the instruction for asking once more.

        Raises:
            PromptError: the variables are not those of the templates.
        """
        self.check_variables(variables)
        shown = {name: self._show(value, split) for name, value in variables.items()}
        user = f"{self.user}\n\n{self.again}" if again and self.again else self.user
        texts = (_VARIABLE.sub(lambda found: shown[found[1]], text) for text in (self.system, user))
        system, user = texts
        return (Message("system", system), Message("user", user))

    def _show(self, value: object, split: Split) -> str:
        if isinstance(value, str):
            return self._neutral(value)
        if isinstance(value, int):
            return str(value)
        assert isinstance(value, Sequence)
        if value and isinstance(value[0], Item):
            lines = (f"{item.number}. {' '.join(item.text.split())}" for item in value)
            return self._neutral("\n".join(lines))
        return self._show_chunks(value, split)

    def _neutral(self, text: str) -> str:
        """The text with the first character of every fence in it replaced, so that it fences nothing."""
        return self._fence.sub("‹", text) if "<" in text else text

    def _show_chunks(self, chunks: Sequence[str], split: Split) -> str:
        numbers = count(1)
        lines = []
        for position, chunk in enumerate(chunks, start=1):
            lines.append(f"Chunk {position}:")
            lines += [f"[{next(numbers)}] {sentence}" for sentence in split(chunk)]
        return self._neutral("\n".join(lines))
