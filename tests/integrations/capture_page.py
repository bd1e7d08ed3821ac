"""The tables of docs/capture.md: what is found in which application, by framework."""

from pathlib import Path
from typing import NamedTuple

PAGE = Path(__file__).resolve().parents[2] / "docs" / "capture.md"
NOTHING = "–"


class Row(NamedTuple):
    """The rules by which the fields of an application's sample are found, None where nothing is.

    Attributes:
        skipped: the reason, where the application gives no sample.
    """

    question: str | None
    contexts: str | None
    answer: str | None
    skipped: str | None

    @property
    def labels(self) -> dict[str, str]:
        """The sample's labels that name the rules."""
        found = {"question": self.question, "contexts": self.contexts, "answer": self.answer}
        return {f"found_{field}": rule for field, rule in found.items() if rule is not None}


def outcomes(section: str) -> dict[str, str]:
    """What is recorded of each application of a table with two columns."""
    text = PAGE.read_text(encoding="utf-8").partition(f"\n## {section}\n")[2].partition("\n## ")[0]
    lines = [line for line in text.splitlines() if line.startswith("| ")][2:]
    return {line.split(" | ")[0][2:]: line.split(" | ")[1].removesuffix(" |") for line in lines}


def rows(framework: str) -> dict[str, Row]:
    """The lines of a framework's table, by the application's name."""
    section = PAGE.read_text(encoding="utf-8").partition(f"\n## {framework}\n")[2].partition("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("| ")][2:]
    cells = [[cell.strip().replace(r"\|", "|") for cell in line.strip("|").split(" | ")] for line in lines]
    table = {name: _row(*found) for name, *found in cells}
    assert len(table) == len(lines), "two applications have the same name"
    return table


def _row(question: str, contexts: str, answer: str) -> Row:
    reason = answer.removeprefix("not scored: ")
    if reason != answer:
        return Row(None, None, None, reason.strip("`"))
    found = (None if cell == NOTHING else cell for cell in (question, contexts, answer))
    return Row(*found, None)
