"""Load prompts from files of the library and from folders of the user."""

import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple, Self, TypeVar

from ragmetrics_core.errors import PromptError
from ragmetrics_core.parsers import Answer
from ragmetrics_core.prompts._prompt import Prompt, digest_of
from ragmetrics_core.texts.language_tags import spelled

__all__ = ["PromptText", "library_names", "load", "load_file", "load_version", "read_folder", "read_text"]

A = TypeVar("A", bound=Answer)

_LIBRARY = files("ragmetrics_core.prompts") / "library"
_FILE_NAME = re.compile(r"([a-z_]+)\.v(\d+)(?:\.((?i:[a-z]{2,3}(?:[-_][a-z0-9]{1,8})*)))?\.md")
# As a signature writes a prompt: its name with its version, and the beginning of its digest.
_VERSION = re.compile(r"(?P<name>[a-z_]+)\.v(?P<version>\d+)(?:@(?P<digest>[0-9a-f]{8,}))?")
_SECTION = re.compile(r"^## (system|user|form|again)\s*$", re.MULTILINE)
_SHARED = re.compile(r"\{\{ *(system|form) *\}\}")


class PromptText(NamedTuple):
    """The text of a prompt file, with one template for each section."""

    name: str
    version: int
    language: str | None
    system: str
    user: str
    again: str

    @classmethod
    def of(cls, prompt: Prompt[Any]) -> Self:
        """The text of a prompt."""
        return cls(prompt.name, prompt.version, prompt.language, prompt.system, prompt.user, prompt.again)

    @property
    def key(self) -> str:
        """The name, with the language for a translation: `statements`, `statements.de`."""
        return f"{self.name}.{self.language}" if self.language else self.name

    @property
    def id(self) -> str:
        """Name, version and language, like `Prompt.id`."""
        return f"{self.name}.v{self.version}" + (f".{self.language}" if self.language else "")

    @property
    def digest(self) -> str:
        """Digest of the three templates, like `Prompt.digest`."""
        return digest_of(self.system, self.user, self.again)


def load(name: str, *, version: int, answer: type[A]) -> Prompt[A]:
    """Read a prompt of the library, with its translations.

    Args:
        name: name of the prompt.
        version: version of the prompt.
        answer: answer type of the prompt.

    Raises:
        PromptError: the file does not exist.
    """
    file_name = f"{name}.v{version}.md"
    if file_name not in (texts := _library()):
        raise PromptError(f"the prompt library has no {file_name}")
    translations = {
        text.language: _prompt(text, answer)
        for text in texts.values()
        if text.language and (text.name, text.version) == (name, version)
    }
    return _prompt(texts[file_name], answer, translations)


def load_version(written: str, *, usual: Prompt[A]) -> Prompt[A]:
    """Read a prompt of the library by its name in a signature: `verdicts.v4`, `verdicts.v4@2bfb1b8f`.

    Args:
        written: name and version, optionally with the start of the expected digest.
        usual: the current version of the prompt.

    Raises:
        PromptError: the library does not have this version, or its digest differs.
    """
    found = _VERSION.fullmatch(written)
    versions = sorted(
        text.id for text in _library().values() if text.name == usual.name and not text.language
    )
    if found is None or f"{found['name']}.v{found['version']}" not in versions:
        raise PromptError(
            f"the prompt library has no version {written!r} of {usual.name}; it has {', '.join(versions)}"
        )
    prompt = load(found["name"], version=int(found["version"]), answer=usual.answer)
    if not prompt.digest.startswith(found["digest"] or ""):
        raise PromptError(f"the library's {prompt.id} has the digest {prompt.digest}, not {found['digest']}")
    return prompt


def load_file(path: str | Path, *, answer: type[A]) -> Prompt[A]:
    """Read a custom prompt from a file named like those of the library: `politeness.v1.md`.

    Args:
        path: the file.
        answer: the answer type, such as `VerdictList` or `Rating`.

    Raises:
        PromptError: the file does not exist, is not a valid prompt, or asks for a form that the answer type
            cannot read.
    """
    path = Path(path)
    if not path.is_file():
        raise PromptError(f"prompt file {path} does not exist")
    prompt = _prompt(read_text(path.name, _content(path)), answer)
    prompt.check_form()
    return prompt


def read_folder(folder: str | Path) -> dict[str, PromptText]:
    """Read the prompt files of a user's folder, by prompt name; translations by name and language.

    `verdicts.v2.md` is "verdicts" and replaces the text of the library. `verdicts.v2.de.md` is "verdicts.de";
    it is used only for samples whose language is "de". The most specific tag wins: for samples in "pt-BR",
    `verdicts.v2.pt-br.md` precedes `verdicts.v2.pt.md`.

    Raises:
        PromptError: the folder has no prompt files, an unreadable one, or two for the same prompt.
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise PromptError(f"prompt folder {folder} does not exist")
    found = sorted(folder.glob("*.md"))
    texts = [read_text(path.name, _content(path)) for path in found]
    if not texts:
        raise PromptError(f"prompt folder {folder} contains no prompt file <name>.v<N>.md")
    by_key = {text.key: text for text in texts}
    if len(by_key) < len(texts):
        twice = next(text.key for text in texts if by_key[text.key] is not text)
        raise PromptError(f"prompt folder {folder} contains several versions of {twice!r}; keep only one")
    return by_key


def read_text(file_name: str, content: str) -> PromptText:
    """Read a prompt file: the name from the file name, the templates from the sections.

    `## form` shows the form of the reply and replaces `{{ form }}` in the other sections.

    Raises:
        PromptError: the file name or the sections are invalid.
    """
    name = _FILE_NAME.fullmatch(file_name)
    if not name:
        raise PromptError(f"a prompt file must be named <name>.v<N>.md, not {file_name!r}")
    _, *parts = _SECTION.split(content)
    sections = {title: text.strip() for title, text in zip(parts[::2], parts[1::2], strict=True)}
    if not sections.get("user"):
        raise PromptError(f"{file_name}: add the section '## user'")
    form = sections.get("form", "")
    shared = {"system": _shared("system"), "form": form}
    again = sections.get("again", _shared("again") if form else "")
    system, user, again = (
        _SHARED.sub(lambda found: shared[found[1]] or found[0], text)
        for text in (sections.get("system", "{{ system }}"), sections["user"], again)
    )
    language = spelled(name[3]) if name[3] else None
    return PromptText(name[1], int(name[2]), language, system, user, again)


def _content(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise PromptError(f"the prompt file {path} cannot be read: {error}") from error


@cache
def _library() -> Mapping[str, PromptText]:
    return {
        file.name: read_text(file.name, file.read_text(encoding="utf-8"))
        for file in sorted(_LIBRARY.iterdir(), key=lambda file: file.name)
        if _FILE_NAME.fullmatch(file.name) and not file.name.startswith(("system.", "again."))
    }


def library_names() -> frozenset[str]:
    """Names of all prompts of the library."""
    return frozenset(text.name for text in _library().values())


@cache
def _shared(name: str) -> str:
    """A text that prompts share: the system text, and the text for asking again."""
    return (_LIBRARY / f"{name}.v1.md").read_text(encoding="utf-8").strip()


def _prompt(
    text: PromptText, answer: type[A], translations: Mapping[str, Prompt[A]] | None = None
) -> Prompt[A]:
    return Prompt(**text._asdict(), answer=answer, translations=translations or {})
