"""Samples of TeleQuAD for `ragmetrics study retriever`: table 1 of the telecom paper on real questions.

    python examples/telequad.py TeleQuAD-v4-full.json FOLDER [--questions 400]
    ragmetrics study retriever FOLDER/words.jsonl FOLDER/bm25.jsonl -k 1,3,5

TeleQuAD is at https://github.com/EricssonResearch/TeleQuAD; any file in the form of SQuAD works. Each
paragraph is a passage, and the one that a question was written on is its reference. Two lexical retrievers
search all passages: `words` counts the question's words in a passage, `bm25` weighs them (Robertson and
Zaragoza 2009, k1 = 1.2, b = 0.75). Questions are drawn at random, the same ones for the same seed.
"""

import argparse
import json
import random
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from math import log
from pathlib import Path
from typing import NamedTuple

K1, B = 1.2, 0.75


class Question(NamedTuple):
    """A question, its answer, and the id of its passage."""

    id: str
    text: str
    answer: str
    passage: str


def main(words: Sequence[str] | None = None) -> None:
    """Write the samples of both retrievers."""
    options = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    options.add_argument("data", type=Path, help="TeleQuAD's JSON file")
    options.add_argument("folder", type=Path, help="where the samples are written")
    options.add_argument("--questions", type=int, default=400, help="how many questions are drawn")
    options.add_argument("--k", type=int, default=5, help="how many passages a retriever gives")
    options.add_argument("--seed", type=int, default=0, help="random seed")
    given = options.parse_args(words)

    passages, questions = read(given.data)
    drawn = random.Random(given.seed).sample(questions, min(given.questions, len(questions)))
    given.folder.mkdir(parents=True, exist_ok=True)
    for name, weigh in (("words", by_count), ("bm25", by_bm25)):
        search = Search(passages, weigh)
        lines = [json.dumps(sample(each, search.best(each.text, given.k), passages)) for each in drawn]
        (given.folder / f"{name}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"{len(drawn)} of {len(questions)} questions on {len(passages)} passages")


def read(path: Path) -> tuple[dict[str, str], list[Question]]:
    """The passages by id, each text once, and the questions that have an answer."""
    ids: dict[str, str] = {}
    questions: list[Question] = []
    for document in json.loads(path.read_text(encoding="utf-8"))["data"]:
        for paragraph in document["paragraphs"]:
            passage = ids.setdefault(paragraph["context"], f"p{len(ids) + 1}")
            for qa in paragraph["qas"]:
                if qa["answers"]:
                    answer = qa["answers"][0]["text"]
                    questions.append(Question(str(qa["id"]), qa["question"], answer, passage))
    return {passage: text for text, passage in ids.items()}, questions


def sample(question: Question, found: Sequence[str], passages: Mapping[str, str]) -> dict[str, object]:
    """A question with the passages that were found, as a sample."""
    return {
        "id": question.id,
        "question": question.text,
        "reference": question.answer,
        "contexts": [passages[name] for name in found],
        "context_ids": list(found),
        "reference_context_ids": [question.passage],
    }


def by_count(times: int, length: float, rarity: float) -> float:
    """The weight of a word that a passage has: 1."""
    return 1.0


def by_bm25(times: int, length: float, rarity: float) -> float:
    """The weight of a word in BM25.

    Args:
        times: how often the passage has it.
        length: words of the passage over the mean of all passages.
        rarity: inverse document frequency of the word.

    >>> round(by_bm25(2, 1.0, 1.5), 4)
    2.0625
    """
    return rarity * times * (K1 + 1) / (times + K1 * (1 - B + B * length))


class Search:
    """An index of passages with a weight for each word."""

    def __init__(self, passages: Mapping[str, str], weigh: Callable[[int, float, float], float]) -> None:
        """Weigh each word of each passage."""
        counts = {name: Counter(words_of(text)) for name, text in passages.items()}
        mean = sum(words.total() for words in counts.values()) / len(counts)
        having = Counter(word for words in counts.values() for word in words)
        self.weights: dict[str, dict[str, float]] = {}
        for name, words in counts.items():
            length = words.total() / mean
            for word, times in words.items():
                rarity = log(1 + (len(counts) - having[word] + 0.5) / (having[word] + 0.5))
                self.weights.setdefault(word, {})[name] = weigh(times, length, rarity)

    def best(self, question: str, k: int) -> list[str]:
        """The ids of the passages that weigh most for a question, the first one first."""
        total: defaultdict[str, float] = defaultdict(float)
        for word in set(words_of(question)):
            for name, weight in self.weights.get(word, {}).items():
                total[name] += weight
        return sorted(total, key=lambda name: (-total[name], int(name[1:])))[:k]


def words_of(text: str) -> list[str]:
    """The words of a text, in lower case."""
    return re.findall(r"\w+", text.lower())


if __name__ == "__main__":
    main()
