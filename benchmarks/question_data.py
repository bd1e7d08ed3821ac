"""Documents with questions of people, for `python -m benchmarks.question_sets`.

    python -m benchmarks.question_data FOLDER [--squad TeleQuAD-v4-full.json]

Writes FOLDER/documents.jsonl, with the labels `source` and `group`, and FOLDER/people.jsonl, whose rows have
the gold passages as `reference_contexts` and their documents as `reference_context_ids`. Without `--squad`
the data are in $RAGMETRICS_SHARED/data or ../shared/data beside the checkout:

- RAGTruth: the questions of MS MARCO. A document is the three passages that were found for a question, which
  are its gold passages. Nobody marked which of them answers it.
- mtrag: turns of conversations on pages of authorities and Wikipedia, without the earlier turns. A document
  is a passage, and the gold passages are those that its authors marked. Turns of fewer than four words,
  clarifications and turns that ask nothing are left out, and so are the pages of IBM Cloud, most of which are
  there several times.

`--squad` reads a file in the form of SQuAD, such as TeleQuAD: a document is a paragraph, which is the gold
passage of its questions.
"""

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.truth import SHARED

__all__ = ["Data", "mtrag", "ragtruth", "squad"]

_FEWEST_WORDS = 4


class Data(NamedTuple):
    """Documents and questions, as rows.

    Attributes:
        documents: rows for `read_corpus`.
        questions: rows with question, gold passages and ids of their documents.
    """

    documents: list[dict[str, Any]]
    questions: list[dict[str, Any]]


def ragtruth(rows: Iterator[dict[str, Any]]) -> Data:
    """The questions of RAGTruth; a document is all that was found for one."""
    data = Data([], [])
    asked = {row["question"]: row for row in rows if row["task_type"] == "QA"}
    for number, row in enumerate(asked.values(), start=1):
        id = f"ragtruth-{number}"
        text = "\n\n".join(row["contexts"])
        data.documents.append({"id": id, "text": text, "source": "ragtruth", "group": id})
        data.questions.append(_question(id, row["question"], row["contexts"], [id]))
    return data


def mtrag(rows: Iterator[dict[str, Any]]) -> Data:
    """The questions of mtrag; a document is a passage, and the group is the conversation."""
    data = Data([], [])
    ids: dict[str, str] = {}
    tasks = {row["task_id"]: row for row in rows}
    for task, row in tasks.items():
        is_short = len(row["question"].split()) < _FEWEST_WORDS
        is_apart = "Clarification" in row["multi_turn"] or "Non-Question" in row["question_type"]
        if is_short or is_apart or not row["contexts"] or "ibmcloud" in row["collection"]:
            continue
        for text in row["contexts"]:
            if text not in ids:
                ids[text] = f"mtrag-{len(ids) + 1}"
                group = row["conversation_id"]
                data.documents.append({"id": ids[text], "text": text, "source": "mtrag", "group": group})
        gold = [ids[text] for text in row["contexts"]]
        data.questions.append(_question(task, row["question"], row["contexts"], gold))
    return data


def squad(file: Path) -> Data:
    """The questions of a file in the form of SQuAD that have an answer; the group is the article."""
    data = Data([], [])
    ids: dict[str, str] = {}
    for number, article in enumerate(json.loads(file.read_text(encoding="utf-8"))["data"], start=1):
        for paragraph in article["paragraphs"]:
            text = paragraph["context"]
            if text not in ids:
                ids[text] = f"p{len(ids) + 1}"
                row = {"id": ids[text], "text": text, "source": file.stem, "group": str(number)}
                data.documents.append(row)
            for asked in paragraph["qas"]:
                if asked["answers"]:
                    data.questions.append(_question(str(asked["id"]), asked["question"], [text], [ids[text]]))
    return data


def _question(id: str, question: str, passages: list[str], documents: list[str]) -> dict[str, Any]:
    return {
        "id": id,
        "question": " ".join(question.split()),
        "reference_contexts": passages,
        "reference_context_ids": documents,
    }


def _rows(name: str) -> Iterator[dict[str, Any]]:
    with (SHARED / name / f"{name}.jsonl").open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def main() -> None:
    """Write documents and questions."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, help="folder for documents.jsonl and people.jsonl")
    parser.add_argument("--squad", type=Path, help="file in the form of SQuAD")
    given = parser.parse_args()
    parts = (
        [squad(given.squad)] if given.squad else [ragtruth(_rows("ragtruth")), mtrag(_rows("mtrag_human"))]
    )
    given.folder.mkdir(parents=True, exist_ok=True)
    for name, rows in (
        ("documents", [row for part in parts for row in part.documents]),
        ("people", [row for part in parts for row in part.questions]),
    ):
        lines = (json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        (given.folder / f"{name}.jsonl").write_text("".join(lines), encoding="utf-8")
        print(f"{len(rows)} rows in {given.folder / name}.jsonl")


if __name__ == "__main__":
    main()
