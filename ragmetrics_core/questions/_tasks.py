"""Writing tasks: which passages a question is asked for next, and how."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest
from random import Random
from typing import Any, NamedTuple, TypeVar

from ragmetrics_core.errors import ConfigError
from ragmetrics_core.prompts import digest_of
from ragmetrics_core.questions._documents import Corpus
from ragmetrics_core.questions._filters import MULTI_HOP
from ragmetrics_core.questions._model import Kind, Length, Passage, Persona, Style
from ragmetrics_core.questions._pairs import rare_pairs
from ragmetrics_core.questions._settings import TestSetSettings
from ragmetrics_core.samples import Label, Sample

__all__ = ["Cell", "Task", "Tasks", "cells_of"]

T = TypeVar("T")

# A judge that is asked for more questions on one passage repeats itself.
_MOST_AT_ONCE = 5


class Cell(NamedTuple):
    """Questions of one kind for one value of a label.

    Attributes:
        label, value: the label of the documents; both None for all documents.
        kind: the kind of the questions.
        asked: number of questions that were asked for.
    """

    label: str | None
    value: Label
    kind: Kind
    asked: int

    @property
    def place(self) -> tuple[str | None, Label]:
        """The label and its value."""
        return self.label, self.value


class Task(NamedTuple):
    """A request for questions.

    Attributes:
        sample: the sample of `question_writing`.
        cell: what the questions are for.
        passages: one passage, or two for a multi-hop question.
        asked: number of questions.
        style, length, persona: labels of the questions; None if not set.
    """

    sample: Sample
    cell: Cell
    passages: tuple[Passage, ...]
    asked: int
    style: Style | None
    length: Length | None
    persona: Persona | None


def cells_of(corpus: Corpus, settings: TestSetSettings) -> tuple[Cell, ...]:
    """The numbers of questions by label value and kind.

    Kinds are spread by their weights over all values, so that the totals and the numbers of each value are
    as near to the weights as whole numbers can be.

    Raises:
        ConfigError: no document has the label.
    """
    places: list[tuple[str | None, Label, int]] = []
    per = {None: settings.per} if isinstance(settings.per, int) else dict(sorted(settings.per.items()))
    for label, count in per.items():
        if label is None:
            places.append((None, None, count))
        elif label not in corpus.labels:
            known = f"the labels are {', '.join(corpus.labels)}" if corpus.labels else "they have no labels"
            raise ConfigError(f"no document has the label {label!r}; {known}")
        else:
            places += [(label, value, count) for value in sorted(corpus.labels[label] - {None}, key=str)]
    given: Counter[Kind] = Counter()
    cells: list[Cell] = []
    weights: dict[Kind, float] = {kind: weight for kind, weight in settings.kinds.items() if weight > 0}
    for label, value, count in places:
        here: Counter[Kind] = Counter()
        for _ in range(count):
            share = (given.total() + 1) / sum(weights.values())
            kind: Kind = max(weights, key=lambda each: weights[each] * share - given[each])
            here[kind] += 1
            given[kind] += 1
        cells += [Cell(label, value, kind, here[kind]) for kind in weights if here[kind]]
    return tuple(cells)


class _Place:
    """The passages of one label value, in the order in which they are used."""

    def __init__(self, passages: Sequence[Passage], name: str) -> None:
        self.single: list[tuple[Passage, ...]] = [(passage,) for passage in passages]
        Random(name).shuffle(self.single)
        self._passages = passages
        self._pairs: list[tuple[Passage, ...]] | None = None
        self._next: Counter[bool] = Counter()
        self.barren: set[tuple[Passage, ...]] = set()
        self.shared: dict[tuple[Passage, ...], tuple[str, ...]] = {}

    def sources(self, kind: Kind) -> list[tuple[Passage, ...]]:
        """Passages, or pairs of passages that share rare words, from the rarest on."""
        if kind not in MULTI_HOP:
            return self.single
        if self._pairs is None:
            pairs = rare_pairs(self._passages)
            self.shared = {(pair.first, pair.second): pair.shared for pair in pairs}
            self._pairs = list(self.shared)
        return self._pairs

    def take(self, kind: Kind, used: set[tuple[Passage, ...]]) -> tuple[Passage, ...] | None:
        """The next source that may give a question and is not used; None if there is none."""
        sources, is_pair = self.sources(kind), kind in MULTI_HOP
        for _ in sources:
            source = sources[self._next[is_pair] % len(sources)]
            self._next[is_pair] += 1
            if source not in used and source not in self.barren:
                used.add(source)
                return source
        return None

    def left(self, kind: Kind, used: set[tuple[Passage, ...]]) -> int:
        """Number of sources that may give a question and are not used."""
        return sum(each not in used and each not in self.barren for each in self.sources(kind))


class Tasks:
    """The rounds of writing tasks.

    Each round asks for as many questions as are missing, for each cell. Passages follow each other in an
    order that the seed decides; when all were used, they begin again, and the brief names the questions that
    were written already. A passage without a question in one round is left out of later ones.

    Args:
        corpus: the documents.
        passages: their passages.
        settings: settings of the test set.

    Attributes:
        cells: numbers of questions by label value and kind.
        asked: number of candidates that each cell has asked for so far.
        cell_of: the cell of each task so far, by the id of its sample.
    """

    def __init__(self, corpus: Corpus, passages: Sequence[Passage], settings: TestSetSettings) -> None:
        self.cells = cells_of(corpus, settings)
        self.asked: Counter[Cell] = Counter()
        self.cell_of: dict[str, Cell] = {}
        self._settings = settings
        self._written: dict[tuple[Passage, ...], list[str]] = {}
        self._places: dict[tuple[str | None, Label], _Place] = {}
        self._decks: dict[Cell, tuple[Iterator[Any], Iterator[Any], Iterator[Any]]] = {}
        for cell in self.cells:
            if cell.place not in self._places:
                here = [each for each in passages if _is_in(corpus, each, cell)]
                self._places[cell.place] = _Place(here, f"{settings.seed} {cell.label} {cell.value}")
            name = f"{settings.seed} {cell.label} {cell.value} {cell.kind}"
            self._decks[cell] = (
                _deck(settings.styles, f"{name} style"),
                _deck(settings.lengths, f"{name} length"),
                _deck(settings.personas, f"{name} persona"),
            )

    def next_round(self, sources: Iterable[str]) -> list[Task]:
        """Tasks for the missing questions, the cells in turn; empty if nothing more can be tried.

        Args:
            sources: the task of each kept question.
        """
        kept = self.kept(sources)
        used: dict[tuple[str | None, Label], set[tuple[Passage, ...]]] = {}
        rounds = [
            self._round_of(cell, cell.asked - kept[cell], used.setdefault(cell.place, set()))
            for cell in self.cells
        ]
        return [task for turn in zip_longest(*rounds) for task in turn if task is not None]

    def kept(self, sources: Iterable[str]) -> Counter[Cell]:
        """Number of kept questions of each cell, from the task of each."""
        return Counter(self.cell_of[source] for source in sources)

    def note(self, task: Task, questions: Sequence[str]) -> None:
        """Remember the questions that were written for a task."""
        self._written.setdefault(task.passages, []).extend(questions)
        if not questions:
            self._places[task.cell.place].barren.add(task.passages)

    def why_short(self, cell: Cell) -> str:
        """Reason that no more questions of a cell are asked for."""
        if self.asked[cell] >= cell.asked * self._settings.tries:
            return f"all {self.asked[cell]} tries were used"
        if not self._places[cell.place].sources(cell.kind):
            return "no two passages share a rare word" if cell.kind in MULTI_HOP else "there is no passage"
        return "no passage gave another question"

    def _round_of(self, cell: Cell, missing: int, used: set[tuple[Passage, ...]]) -> list[Task]:
        missing = min(missing, cell.asked * self._settings.tries - self.asked[cell])
        place = self._places[cell.place]
        tasks: list[Task] = []
        left = place.left(cell.kind, used)
        at_once = min(_MOST_AT_ONCE, -(-missing // left)) if left else 0
        while missing > 0 and (source := place.take(cell.kind, used)) is not None:
            count = min(missing, at_once)
            missing -= count
            self.asked[cell] += count
            tasks.append(self._task(cell, source, count, place.shared.get(source, ())))
        return tasks

    def _task(self, cell: Cell, source: tuple[Passage, ...], count: int, shared: Sequence[str]) -> Task:
        style, length, persona = map(next, self._decks[cell])
        lines = {
            "kind": cell.kind,
            "style": style,
            "length": length,
            "persona": persona and f"{persona.name}: {persona.role_description}".removesuffix(": "),
            "language": self._settings.language,
            "count": count if count > 1 else None,
            "shared": ", ".join(shared),
        }
        brief = [f"{name}: {_in_one_line(str(value))}" for name, value in lines.items() if value]
        brief += [f"other_than: {_in_one_line(each)}" for each in self._written.get(source, ())]
        places = [{"document": each.document, "start": each.start, "end": each.end} for each in source]
        labels: dict[str, Label] = {"passages": json.dumps(places, ensure_ascii=False)}
        if cell.label is not None:
            labels[cell.label] = cell.value
        contexts = [passage.text for passage in source]
        sample = Sample(
            id=f"w-{digest_of(json.dumps([brief, places, contexts]))[:16]}",
            question="\n".join(brief),
            contexts=contexts,
            language=self._settings.language,
            labels=labels,
        )
        self.cell_of[sample.id] = cell
        return Task(sample, cell, source, count, style, length, persona)


def _is_in(corpus: Corpus, passage: Passage, cell: Cell) -> bool:
    """Whether a passage is of a document with the cell's value."""
    if cell.label is None:
        return True
    labels = corpus.documents[passage.document].labels
    return cell.label in labels and labels[cell.label] == cell.value


def _deck(values: Sequence[T], name: str) -> Iterator[T | None]:
    """The values in a random order, again and again; None for ever if there are none."""
    random = Random(name)
    while True:
        deck: list[T | None] = list(values) or [None]
        random.shuffle(deck)
        yield from deck


def _in_one_line(text: str) -> str:
    return " ".join(text.split())
