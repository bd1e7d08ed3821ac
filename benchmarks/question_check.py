"""Share of human questions that pass `ragmetrics questions check`, with right and with wrong gold passages.

    python -m benchmarks.question_check --data /work/shared/data [--judge NAME] [--count 50] [--seed 0]

Three public sets in which people asked the questions and people marked the passages that answer them:

- attributed: AttributionBench (HAGRID, whose questions are MIRACL's, and AttributedQA, whose questions are
  those of Natural Questions). The gold answer is a claim that annotators found attributable to its passage.
- ragtruth: RAGTruth's questions, which are those of MS MARCO. The gold answer is the shortest answer of a
  model in which annotators marked nothing that its passages do not say.
- mtrag: mtrag-human, the answers that annotators wrote or corrected, with the passages marked relevant; of
  conversations, so that most questions need their history.

A question with gold from a wrong section has the passages of another question of the set. Nothing here is
fitted to the sets: the filters and their limits are the defaults.
"""

import argparse
import json
import random
import re
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ragmetrics_core.questions import Document, check_questions, read_corpus
from ragmetrics_core.study import wilson_interval

Row = Mapping[str, Any]
# An embedding model cannot rate a question or answer it without documents.
LEFT_OUT = ("question_quality", "closed_book_accuracy")

# "[2] " before a passage, and " [2]" in a claim, are the data set's own reference numbers
_NUMBER = re.compile(r"\s*\[\d+(?:,\s*\d+)*\]")


def rows_in(path: Path) -> Iterator[Row]:
    """The objects of a JSON Lines file."""
    with path.open(encoding="utf-8") as file:
        yield from map(json.loads, file)


def attributed(data: Path) -> list[Row]:
    """Questions of people with a claim that its one passage supports."""
    found: dict[str, Row] = {}
    for row in rows_in(data / "attributionbench" / "attributionbench.jsonl"):
        is_supported = row["label"] == "attributable" and row["contexts"]
        if row["source"] not in ("HAGRID", "AttributedQA") or not is_supported:
            continue
        contexts = [_NUMBER.sub("", context, count=1).strip() for context in row["contexts"]]
        reference = _NUMBER.sub("", row["claim"]).strip()
        found.setdefault(
            row["question"],
            {"question": row["question"], "reference": reference, "reference_contexts": contexts},
        )
    return list(found.values())


def mtrag(data: Path) -> list[Row]:
    """Answerable questions of conversations, with the passages marked relevant."""
    found: dict[str, Row] = {}
    for row in rows_in(data / "mtrag_human" / "mtrag_human.jsonl"):
        relevant = row["context_relevance_by_authors"]
        if row["answerability"] != ["ANSWERABLE"] or not relevant:
            continue
        found[row["task_id"]] = {
            "question": row["question"],
            "reference": row["reference"],
            "reference_contexts": [row["contexts"][number] for number in relevant],
            "history": [{"role": turn["speaker"], "content": turn["text"]} for turn in row["history"]],
        }
    return list(found.values())


def ragtruth(data: Path) -> list[Row]:
    """Questions of people with an answer in which annotators marked nothing."""
    found: dict[str, Row] = {}
    for row in rows_in(data / "ragtruth" / "ragtruth.jsonl"):
        is_good = row["task_type"] == "QA" and not row["label_hallucinated"] and row["quality"] == "good"
        earlier = found.get(row["question"])
        if is_good and (earlier is None or len(row["answer"]) < len(earlier["reference"])):
            found[row["question"]] = {
                "question": row["question"],
                "reference": row["answer"],
                "reference_contexts": row["contexts"],
            }
    return list(found.values())


SETS: Mapping[str, Callable[[Path], list[Row]]] = {
    "attributed": attributed,
    "ragtruth": ragtruth,
    "mtrag": mtrag,
}


def with_wrong_gold(rows: Sequence[Row], seed: int) -> list[Row]:
    """The rows, each with the passages of another one, which has no passage in common with it."""
    chance = random.Random(seed)
    wrong: list[Row] = []
    for row in rows:
        own = set(row["reference_contexts"])
        others = [other for other in rows if own.isdisjoint(other["reference_contexts"])]
        wrong.append({**row, "reference_contexts": chance.choice(others)["reference_contexts"]})
    return wrong


def main() -> None:
    """Print the share that passes, and why the others do not."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, required=True, help="Folder of the labelled sets.")
    parser.add_argument("--judge", default="embedded", help="Judge that checks. Default: embedded.")
    parser.add_argument("--count", type=int, default=50, help="Questions of each set. Default: 50.")
    parser.add_argument("--seed", type=int, default=0, help="Random seed. Default: 0.")
    parser.add_argument("--only", choices=list(SETS), help="One of the sets.")
    options = parser.parse_args()
    for name, read in SETS.items():
        if options.only not in (None, name):
            continue
        rows = read(options.data)
        texts = dict.fromkeys(text for row in rows for text in row["reference_contexts"])
        corpus = read_corpus([Document(id=f"{name}-{n}", text=text) for n, text in enumerate(texts, 1)])
        sample = random.Random(options.seed).sample(rows, min(options.count, len(rows)))
        for gold, questions in (("right", sample), ("wrong", with_wrong_gold(sample, options.seed))):
            with tempfile.TemporaryDirectory() as folder:
                checked = check_questions(
                    questions, corpus, out=folder, judge=options.judge, leave_out=LEFT_OUT, progress=False
                )
                passed, reasons = len(checked.questions), Counter(checked.counts)
            interval = wilson_interval(passed, len(questions))
            print(f"{name}, {gold} gold: {passed} of {len(questions)} pass, {interval}; {dict(reasons)}")


if __name__ == "__main__":
    main()
