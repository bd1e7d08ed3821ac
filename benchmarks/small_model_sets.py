"""The sets on which a small language model is asked: items that people labelled, and some made of them."""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ragmetrics_core.parsers import split_sentences

__all__ = ["SETS", "Drawn", "Row"]

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Drawn:
    """Items of a set: which rows, what they share, when one is good, and the ways to ask.

    With `cascade`, one of the ways, `embedded` is asked before the model, too. For `splits` the model makes
    the statements and `embedded` gives the verdicts, which shows what the statements are worth. `made` turns
    the rows of the file into those that are asked about; `label` is then the column that says which are good.
    """

    file: str
    source: str
    good: Callable[[Row], bool]
    metrics: tuple[str, ...]
    cascade: str = ""
    splits: tuple[str, ...] = ()
    taken: Callable[[Row], bool] = lambda row: True
    made: Callable[[Sequence[Row]], Iterable[Row]] = lambda rows: rows
    label: str | None = None

    def rows(self, shared: Path, n: int) -> Iterator[Row]:
        """Good and bad in turn, in the order of their names' digests; a source's second item comes late."""
        lines = (shared / self.file).read_text(encoding="utf-8").splitlines()
        rows = list(self.made([row for row in map(json.loads, lines) if self.taken(row)]))
        halves = [self._ordered(row for row in rows if self.good(row) is good) for good in (False, True)]
        for pair in list(zip(*halves, strict=False))[: n // 2]:
            # one reference an item: each further one would take two calls more
            yield from ({name: row[name] for name in row if name != "references"} for row in pair)

    def _ordered(self, rows: Iterable[Row]) -> list[Row]:
        seen: Counter[str] = Counter()
        turns: list[tuple[int, str, Row]] = []
        for digest, row in sorted(((_digest(row["id"]), row) for row in rows), key=lambda each: each[0]):
            turns.append((seen[row[self.source]], digest, row))
            seen[row[self.source]] += 1
        return [row for *_, row in sorted(turns, key=lambda turn: turn[:2])]


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _shared(text: str, other: str) -> float:
    """The share of a text's words that another one has."""
    words = _words(text)
    return len(words & _words(other)) / len(words) if words else 0.0


def _words(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"\w+", text.casefold()))


# What is made of the rows of a file.


def turns(rows: Sequence[Row]) -> Iterator[Row]:
    """Answers of one sentence beside a short text; entailed by it, or with a hallucination."""
    for row in rows:
        label, text = row["label_begin"].casefold(), row["contexts"][0]
        is_short = len(text) <= 600 and len(row["answer"]) >= 25 and len(split_sentences(row["answer"])) == 1
        if is_short and (label == "entailment" or "hallucination" in label):
            yield {**_plain(row), "document": text, "faithful": label == "entailment"}


def passages(rows: Sequence[Row]) -> Iterator[Row]:
    """Each question with the passage from which an answer was made, and with one of another question.

    The answer is the shortest without a hallucination. Its passage has most of its words; that of another
    question has most of the question's. Both are short enough for a small model.
    """
    answered = _answered(rows)
    for row in answered:
        own = max(_short(row["contexts"]), key=lambda text: _shared(row["answer"], text))
        others = [text for each in answered if each is not row for text in _short(each["contexts"])]
        other = max(others, key=lambda text: _shared(row["question"], text))
        for name, relevant, text in (("own", True, own), ("other", False, other)):
            yield {**_plain(row), "id": f"{row['id']}-{name}", "contexts": [text], "relevant": relevant}


def without_answer(rows: Sequence[Row]) -> Iterator[Row]:
    """Questions with a passage, for a blank answer: to decline is right beside that of another question."""
    for row in passages(rows):
        yield {**row, "answer": "", "insufficient": not row["relevant"]}


def recalled(rows: Sequence[Row]) -> Iterator[Row]:
    """Questions with a passage, and the answer as the reference: what it says stands in its own passage."""
    for row in passages(rows):
        yield {**row, "reference": row["answer"]}


def ranked(rows: Sequence[Row]) -> Iterator[Row]:
    """Each question with its two passages, its own first or last, and the answer as the reference."""
    found = list(passages(rows))
    for own, other in zip(found[::2], found[1::2], strict=True):
        texts = [*own["contexts"], *other["contexts"]]
        for name, first, contexts in (("first", True, texts), ("last", False, texts[::-1])):
            yield {
                **own,
                "id": f"{own['id']}-{name}",
                "contexts": contexts,
                "reference": own["answer"],
                "own_first": first,
            }


def _answered(rows: Sequence[Row]) -> list[Row]:
    """Of each question the shortest answer without a hallucination."""
    good = sorted((row for row in rows if not row["label_hallucinated"]), key=lambda row: len(row["answer"]))
    first: dict[str, Row] = {}
    for row in good:
        first.setdefault(row["source_id"], row)
    return [row for row in first.values() if _short(row["contexts"])]


def _short(texts: Iterable[str]) -> list[str]:
    return [text for text in texts if len(text) <= 700]


def useful(rows: Sequence[Row]) -> Iterator[Row]:
    """Short answers that people rated of use (4 or 5 of 5), or of none (1 or 2)."""
    for row in rows:
        rating = int(row["label_utility"])
        if rating != 3 and 20 < len(row["answer"]) < 300:
            yield {**_plain(row), "useful": rating > 3}


def declining(rows: Sequence[Row]) -> Iterator[Row]:
    """Answers that begin with an apology and are wrong, and right answers of the same systems."""
    for row in rows:
        begins = bool(_SORRY.match(row["answer"]))
        is_prose = row["model"] in ("newbing", "chatgpt") and 40 < len(row["answer"]) < 250
        if is_prose and begins is not row["label_correct"] and "However" not in row["answer"]:
            yield {**_plain(row), "contexts": [], "declines": begins}


def years(rows: Sequence[Row]) -> Iterator[Row]:
    """Answers in a sentence or two, and whether four digits of a year stand in them."""
    for row in rows:
        if row["model"] == "chatgpt" and 40 < len(row["answer"]) < 250:
            yield {**_plain(row), "names_a_year": bool(_YEAR.search(row["answer"]))}


_SORRY = re.compile(r"(I.?.?m|I am|.m) sorry|As an AI|I cannot|I do not have")
_YEAR = re.compile(r"\b(1[0-9]|20)[0-9]{2}\b")
_LABELS = ("label", "human_ratings", "hallucination_spans", "votes")


def _plain(row: Row) -> dict[str, Any]:
    """The row without its labels, of which it gets its own."""
    return {name: value for name, value in row.items() if not name.startswith(_LABELS)}


_ALONE = "per_call=1, verify=verdicts.v4"
_RAGTRUTH = "ragtruth/ragtruth.jsonl"
_EVOUNA = "evouna/evouna.jsonl"


def _is_qa(row: Row) -> bool:
    return bool(row["task_type"] == "QA")


SETS = {
    "ragtruth_qa": Drawn(
        _RAGTRUTH,
        "source_id",
        lambda row: not row["label_hallucinated"],
        (
            "faithfulness",
            "faithfulness(verify=verdicts.v1)",
            "faithfulness(per_call=1)",
            "faithfulness(granularity=sentence)",
            f"faithfulness(granularity=sentence, {_ALONE})",
        ),
        cascade="faithfulness(granularity=sentence)",
        splits=("faithfulness", "faithfulness(decompose=statements.v2)"),
        taken=_is_qa,
    ),
    "wice_claims": Drawn(
        "wice_claims/wice_claims.jsonl",
        "claim_title",
        lambda row: row["label"] == "supported",
        ("faithfulness", "faithfulness(granularity=answer)"),
        # what a small model reads in a minute
        taken=lambda row: sum(map(len, row["contexts"])) < 4000,
    ),
    "evouna": Drawn(
        _EVOUNA,
        "question",
        lambda row: bool(row["label_correct"]),
        (
            "factual_correctness",
            "factual_correctness(verify=reference_verdicts.v1, cover=answer_verdicts.v1)",
            "factual_correctness(verify=reference_verdicts.v3, cover=answer_verdicts.v3)",
            "answer_accuracy",
            "answer_accuracy(rate=accuracy_grade.v1)",
        ),
    ),
    "turns": Drawn(
        "faithdial_audit/faithdial_audit.jsonl",
        "document",
        lambda row: bool(row["faithful"]),
        (
            "groundedness_rating",
            "groundedness_rating(rate=sentence_rating.v1)",
            "groundedness_rating/ragas-0.4",
            "groundedness_rating/ragas-0.4(grade=grounding_grade.v1, grade_again=grounding_grade_again.v1)",
            "faithfulness",
            # each answer is one sentence
            "faithfulness(granularity=sentence)",
            *(f"faithfulness(granularity=sentence, verify=verdicts.v{n})" for n in (1, 3, 4)),
        ),
        made=turns,
        label="faithful",
    ),
    "passages": Drawn(
        _RAGTRUTH,
        "source_id",
        lambda row: bool(row["relevant"]),
        (
            "context_relevance_rating",
            "context_relevance_rating(rate=chunk_rating.v1)",
            "context_relevance_rating/ragas-0.4",
            "context_relevance_rating/ragas-0.4(grade=context_grade.v1, grade_again=context_grade_again.v1)",
        ),
        taken=_is_qa,
        made=passages,
        label="relevant",
    ),
    "recalled": Drawn(
        _RAGTRUTH,
        "source_id",
        lambda row: bool(row["relevant"]),
        (),
        splits=("context_recall", "context_recall(decompose=reference_statements.v2)"),
        taken=_is_qa,
        made=recalled,
        label="relevant",
    ),
    "without_answer": Drawn(
        _RAGTRUTH,
        "source_id",
        lambda row: bool(row["insufficient"]),
        ("abstention", "abstention(suffice=sufficiency.v1)"),
        taken=_is_qa,
        made=without_answer,
        label="insufficient",
    ),
    "ranked": Drawn(
        _RAGTRUTH,
        "source_id",
        lambda row: bool(row["own_first"]),
        (
            "context_precision",
            "context_precision(verify=chunk_verdicts.v1)",
            "context_precision(chunks=alone)",
        ),
        taken=_is_qa,
        made=ranked,
        label="own_first",
    ),
    "useful": Drawn(
        "alce_utility/alce_utility.jsonl",
        "question",
        lambda row: bool(row["useful"]),
        ("answer_relevance_rating", "answer_relevance_rating(rate=answer_rating.v1)"),
        made=useful,
        label="useful",
    ),
    "declining": Drawn(
        _EVOUNA,
        "question",
        lambda row: bool(row["declines"]),
        ("abstention", "abstention(decline=declining.v1)"),
        made=declining,
        label="declines",
    ),
    "years": Drawn(
        _EVOUNA,
        "question",
        lambda row: bool(row["names_a_year"]),
        ("criterion(text=names a year)", "criterion(text=names a year, verify=criterion.v1)"),
        made=years,
        label="names_a_year",
    ),
}
