"""Share of contradicted statements that `embedded` tells from those that are not mentioned.

    python -m benchmarks.stances RAGTRUTH.jsonl BUMP.jsonl

RAGTruth marks words of an answer as a conflict or as baseless: its sentences with such words. BUMP changes
one thing in a summary: its changed sentences. Nothing is fitted to either. Intervals are Wilson's, at 95 %.
"""

import json
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from ragmetrics_core.parsers import split_sentences
from ragmetrics_core.study import wilson_interval
from ragmetrics_embedded._support import support_model


class Labelled(NamedTuple):
    """A sentence with the kind of its error."""

    kind: str
    text: str
    contexts: tuple[str, ...]


def ragtruth(rows: list[dict[str, Any]]) -> Iterator[Labelled]:
    """The sentences with words of one kind; those with both kinds are left out."""
    for row in rows:
        start = 0
        for sentence in split_sentences(row["answer"]):
            start = row["answer"].find(sentence, start)
            end = start + len(sentence)
            kinds = {
                span["type"].split()[1]
                for span in row["hallucination_spans"]
                if span["start"] < end and span["end"] > start and not span["implicit_true"]
            }
            if len(kinds) == 1:
                yield Labelled(f"RAGTruth {kinds.pop()}", sentence, tuple(row["contexts"]))


def bump(rows: list[dict[str, Any]]) -> Iterator[Labelled]:
    """The changed sentences of summaries."""
    for row in rows:
        kept = set(split_sentences(row["reference"]))
        changed = [text for text in split_sentences(row["answer"]) if text not in kept]
        if row["error_type"] and len(changed) == 1:
            kind = row["error_type"].removesuffix(" Error")
            yield Labelled(f"BUMP {kind}", changed[0], tuple(row["contexts"]))


def main() -> None:
    """Print a row for each kind."""
    files = [Path(name).read_text(encoding="utf-8").splitlines() for name in sys.argv[1:3]]
    first, second = ([json.loads(line) for line in lines] for lines in files)
    found: dict[str, list[str]] = defaultdict(list)
    for sentence in (*ragtruth(first), *bump(second)):
        support = support_model().support(sentence.text, sentence.contexts, contrary=True)
        word = "contradicted" if support.contrary else "not mentioned"
        names = {True: "supported", False: word, None: "undecided"}
        found[sentence.kind].append(names[support.supported])
    print("| kind | sentences | supported | contradicted | not mentioned | contradicted of these two |")
    print("| --- | --- | --- | --- | --- | --- |")
    for kind, words in sorted(found.items()):
        against, without = words.count("contradicted"), words.count("not mentioned")
        share = "-"
        if against + without:
            interval = wilson_interval(against, against + without)
            share = f"{against / (against + without):.2f} ({interval.low:.2f} to {interval.high:.2f})"
        print(f"| {kind} | {len(words)} | {words.count('supported')} | {against} | {without} | {share} |")


if __name__ == "__main__":
    main()
