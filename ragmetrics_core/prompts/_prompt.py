"""A prompt: a template with exact variables, and its answer type.

Templates are data. They are filled in one pass, so inserted text is never parsed as a template, and untrusted
text cannot close its fence (`<answer> ... </answer>`).
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import sha256
from typing import Any, Generic, Literal, NamedTuple, Self, TypeVar

from ragmetrics_core.errors import PromptError
from ragmetrics_core.parsers import Answer, Expected, split_sentences
from ragmetrics_core.texts.language_tags import spelled, tags_of

__all__ = [
    "Item",
    "Message",
    "Prompt",
    "Split",
    "digest_of",
    "digest_of_bytes",
    "marked_sentences",
    "numbered_sentences",
]

A_co = TypeVar("A_co", bound=Answer, covariant=True)

Split = Callable[[str], Sequence[str]]
ShowChunks = Callable[[Sequence[str]], str]
Value = "str | int | Sequence[str] | Sequence[Item]"
# Plain text and names of variables in turn, so that filling it in is joining it.
_Template = tuple[str, ...]

_VARIABLE = re.compile(r"\{\{ *([a-z_]+(?:\.sentences)?) *\}\}")
_FENCE = re.compile(r"</([a-z_]+)>")
_CODE_FENCE = re.compile(r"^[ \t]*(?:```|~~~)", re.MULTILINE)
_LAID_OUT = (" ", "\t", "|")
# How much of a reply is shown to the judge that is asked once more, in characters.
_SHOWN = 4000
# What is said after the reasons where a prompt of the user says nothing for it.
_AGAIN = "Reply once more, in the form that was asked for."
# What fences texts in prompts, and what judges fence their thoughts with.
_FENCES = frozenset(
    {"question", "answer", "reference", "contexts", "chunk", "items"}
    | {"think", "thinking", "thought", "reasoning"}
)


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
    parts: list[bytes] = []
    for text in texts:
        data = text.encode("utf-8", "surrogatepass")
        parts += len(data).to_bytes(8), data
    return sha256(b"".join(parts)).hexdigest()[:32]


def digest_of_bytes(text: bytes) -> str:
    """The digest of a text, given in UTF-8."""
    return sha256(len(text).to_bytes(8) + text).hexdigest()[:32]


def marked_sentences(text: str, sentences: Sequence[str]) -> str:
    r"""A text with a mark on each sentence that a prompt asks about: "[sentence 1]".

    >>> print(marked_sentences("# Sorting\nIt sorts. It is fast.", ["It sorts.", "It is fast."]))
    # Sorting
    [sentence 1] It sorts.
    [sentence 2] It is fast.
    """
    return _numbered(text, sentences, 1, mark="sentence ")


def numbered_sentences(chunks: Sequence[str], split: Split = split_sentences) -> str:
    r"""The context chunks as shown in prompts, with sentences numbered across all chunks.

    Lines, indentation, list markers, tables and code are kept. Each number precedes the line on which its
    sentence begins. In prose, each further sentence of a line moves to a new line; in code, tables and
    indented lines it stays in place.

    >>> print(numbered_sentences(["It sorts. It is fast.\n```\nfor x in y:\n    use(x)\n```"]))
    Chunk 1:
    [1] It sorts.
    [2] It is fast.
    ```
    [3] for x in y:
    [4]     use(x)
    ```
    """
    shown: list[str] = []
    first = 1
    for position, chunk in enumerate(chunks, start=1):
        sentences = split(chunk)
        shown += [f"Chunk {position}:", _numbered(chunk, sentences, first)]
        first += len(sentences)
    return "\n".join([text for text in shown if text])


def _numbered(chunk: str, sentences: Sequence[str], first: int, mark: str = "") -> str:
    """The chunk with a number for each sentence and without surrounding blank lines."""
    parts: list[str] = []
    end = 0
    has_code = "```" in chunk or "~~~" in chunk
    is_prose = "\n" not in chunk and not has_code and not chunk.startswith(_LAID_OUT)
    for number, sentence in enumerate(sentences, first):
        start = chunk.find(sentence, end)
        if start < 0:  # the split changed it: half a character has become a whole one
            return "\n".join([f"[{mark}{number}] {text}" for number, text in enumerate(sentences, first)])
        lead = chunk[end:start]
        end = start + len(sentence)
        if is_prose and parts and not lead.strip():
            parts += f"\n[{mark}{number}] ", sentence
            continue
        before, line, lead = lead.rpartition("\n")
        if line or not parts:
            parts += [before, line, f"[{mark}{number}] ", lead]
        elif lead.strip() or _is_laid_out(chunk, start, has_code=has_code):
            parts += [lead, f"[{mark}{number}] "]
        else:
            parts.append(f"\n[{mark}{number}] ")
        parts.append(sentence)
    text = "".join([*parts, chunk[end:]]).rstrip()
    # blank lines before it go, and the first line keeps its indentation
    blank = text[: len(text) - len(text.lstrip())]
    return text[blank.rfind("\n") + 1 :]


def _is_laid_out(chunk: str, place: int, *, has_code: bool) -> bool:
    """Whether the line at a place is indented, a table row, or in a block of code."""
    if chunk.startswith(_LAID_OUT, chunk.rfind("\n", 0, place) + 1, place):
        return True
    return has_code and len(_CODE_FENCE.findall(chunk, 0, place)) % 2 == 1


@dataclass(frozen=True, kw_only=True)
class Prompt(Generic[A_co]):
    """The question of one step: a template for each role, and the answer type.

    Attributes:
        name: name of the prompt; its text is in the file `<name>.v<version>.md`.
        version: version of the text, raised with every change.
        answer: the answer type, which also reads raw replies.
        system: template of the system message.
        user: template of the user message.
        again: text after the objections when the judge is asked again.
        language: language tag of the text, such as "de" or "pt-br"; None for the default, English.
        translations: the same prompt in other languages, by language.
    """

    name: str
    version: int
    answer: type[A_co]
    system: str = field(repr=False)
    user: str = field(repr=False)
    again: str = field(default="", repr=False)
    language: str | None = None
    translations: Mapping[str, Self] = field(default_factory=dict[str, Any], repr=False)

    @cached_property
    def id(self) -> str:
        """Name, version and language: `statements.v1`, `statements.v1.de`."""
        return f"{self.name}.v{self.version}" + (f".{self.language}" if self.language else "")

    @cached_property
    def digest(self) -> str:
        """Digest of the three templates, which changes with the text."""
        return digest_of(self.system, self.user, self.again)

    @cached_property
    def variables(self) -> frozenset[str]:
        """The exact names of the variables for `render`."""
        return frozenset([name.partition(".")[0] for name in _VARIABLE.findall(self.system + self.user)])

    @cached_property
    def numbered(self) -> str | None:
        """The text whose sentences the template numbers, as in `{{ answer.sentences }}`, or None."""
        names = (name.partition(".") for name in _VARIABLE.findall(self.user))
        return next((name for name, dot, _ in names if dot), None)

    @cached_property
    def as_json(self) -> bool:
        """Whether the text asks for JSON; otherwise it asks for lines of text."""
        return Expected(form=self.user).as_json

    @cached_property
    def _fence(self) -> re.Pattern[str]:
        names = _FENCES | set(_FENCE.findall(self.user))
        return re.compile(rf"<(?=\s*/?\s*(?:{'|'.join(sorted(names))})\b)", re.IGNORECASE)

    def in_language(self, language: str | None) -> "Prompt[A_co]":
        """The translation for a language tag, or the prompt itself without one.

        The most specific translation wins: for "pt-BR", "pt-br" precedes "pt". Spelling is ignored: "DE",
        "en_GB".
        """
        if not self.translations or not language:
            return self
        return next((self._by_tag[tag] for tag in tags_of(language) if tag in self._by_tag), self)

    @cached_property
    def _by_tag(self) -> Mapping[str, "Prompt[A_co]"]:
        return {spelled(language): prompt for language, prompt in self.translations.items()}

    def with_text(
        self, *, system: str, user: str, again: str = "", version: int | None = None
    ) -> "Prompt[A_co]":
        """The prompt with a new text, which must have the same variables.

        Raises:
            PromptError: a variable is missing in the new text, or the text has an extra one.
        """
        version = self.version if version is None else version
        changed = replace(
            self, system=system, user=user, again=again, version=version, language=None, translations={}
        )
        self.check_variables(changed.variables)
        changed.check_numbering()
        return changed

    def check_form(self) -> None:
        """Raise `PromptError` unless the answer type can read the form that the text asks for."""
        self.check_numbering()
        answer = self.answer
        fields = {field.alias or name: field for name, field in answer.model_fields.items()}
        missing = [
            name for name, field in fields.items() if field.is_required() and f'"{name}"' not in self.user
        ]
        if self.as_json and missing:
            raise PromptError(
                f'prompt {self.id}: the form must show "{missing[0]}", which each {answer.__name__} has'
            )
        if not self.as_json and answer.of_lines.__func__ is Answer.of_lines.__func__:  # type: ignore[attr-defined]
            raise PromptError(
                f"prompt {self.id}: a {answer.__name__} is only read from JSON; say JSON and show its form"
            )

    def check_numbering(self) -> None:
        """Raise `PromptError` unless the form names sentences exactly if the text numbers them."""
        if why := self.answer.misplaced_form(self.user, is_numbered=self.numbered is not None):
            raise PromptError(f"prompt {self.id}: {why}")

    def check_variables(self, given: Iterable[str]) -> None:
        """Raise `PromptError` unless the names are exactly the template's variables."""
        given = frozenset(given)
        if given != self.variables:
            missing, extra = sorted(self.variables - given), sorted(given - self.variables)
            parts = [f"lacks {missing}"] * bool(missing) + [f"has no place for {extra}"] * bool(extra)
            raise PromptError(
                f"prompt {self.id}: expected the variables {sorted(self.variables)}; it {' and '.join(parts)}"
            )

    def render(
        self,
        variables: Mapping[str, object],
        *,
        show: ShowChunks = numbered_sentences,
        marked: Callable[[str], str] = lambda text: marked_sentences(text, split_sentences(text)),
    ) -> tuple[Message, ...]:
        """Fill the templates.

        Args:
            variables: values by name, exactly for the variables of the templates. A value is a text, a
                number, the context chunks (a sequence of texts, shown with numbered sentences) or numbered
                items.
            show: formats the context chunks with numbered sentences.
            marked: formats a text whose sentences the template numbers.

        Raises:
            PromptError: the names differ from the variables of the templates.
        """
        if frozenset(variables) != self.variables:
            self.check_variables(variables)
        shown = {name: self._shown(value, show) for name, value in variables.items()}
        if self.numbered is not None:
            text = marked(str(variables[self.numbered]))
            shown[f"{self.numbered}.sentences"] = self._shown(text, show)
        system, user = self._templates
        return Message("system", _filled(system, shown)), Message("user", _filled(user, shown))

    def follow_up(
        self, messages: Sequence[Message], reply: str, objections: Sequence[str]
    ) -> tuple[Message, ...]:
        """Messages that ask again in the same conversation, after an unusable reply.

        Args:
            messages: the earlier messages.
            reply: the judge's reply, without reasoning; a long reply is shortened.
            objections: the objections to the reply.
        """
        reasons = "\n".join([f"{text[:1].upper()}{text[1:]}." for text in objections])
        asked = f"{reasons}\n{self.again or _AGAIN}"
        if not reply.strip():  # many servers refuse a message without text
            *first, last = messages
            return (*first, last._replace(content=f"{last.content}\n\n{asked}"))
        shown = reply if len(reply) <= _SHOWN else f"{reply[:_SHOWN]} ..."
        return (*messages, Message("assistant", shown), Message("user", asked))

    @cached_property
    def _templates(self) -> tuple[_Template, _Template]:
        """The parsed templates."""
        return tuple(_VARIABLE.split(self.system)), tuple(_VARIABLE.split(self.user))

    def _shown(self, value: object, show: ShowChunks) -> str:
        if isinstance(value, str):
            text = value
        elif isinstance(value, int):
            return str(value)
        else:
            texts: Any = value
            text = _listed(texts) if texts and isinstance(texts[0], Item) else show(texts)
        # the first character of every fence in it is replaced, so that it fences nothing
        return self._fence.sub("‹", text) if "<" in text else text


def _listed(items: Sequence[Item]) -> str:
    return "\n".join([f"{number}. {' '.join(text.split())}" for number, text in items])


def _filled(template: _Template, shown: Mapping[str, str]) -> str:
    if len(template) == 1:
        return template[0]
    parts = list(template)
    parts[1::2] = [shown[name] for name in template[1::2]]
    return "".join(parts)
