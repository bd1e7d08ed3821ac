"""Agreement of scores with people's ratings of conversations, with the history and without it.

    python -m benchmarks.conversations embedded
    python -m benchmarks.conversations model MODEL@URL --out FOLDER [--turns 40] [--changed 30] [--figures]
    python -m benchmarks.conversations retrieval QUERIES [--run FOLDER]

The set is mtrag_human: three answers to each turn of seven conversations, rated by three people from 1 to 4.
"Without" is the same turn with no history. "With" gives each earlier answer the contexts of its turn, which
the set has for all of them; `embedded` also reports histories without these.

- `embedded` correlates the scores of the embedded judge, which needs no model server, with the ratings.
- `model` does the same for a model on some turns with a history. Both count the scores of faithfulness that
  change if a pronoun is replaced by the name that it stands for, or if the first turn is dropped. A run that
  was stopped resumes; `--figures` prints the figures of what is scored so far.
- `retrieval` searches the passages of the set by BM25 for the questions as typed, for the stand-alone
  questions of the embedded judge and of the model's run, and for those of the set's authors. QUERIES is a
  folder with files of mtrag's retrieval tasks: NAME_lastturn.jsonl and NAME_rewrite.jsonl.

The set is looked for in $RAGMETRICS_SHARED/data or ../shared/data beside the checkout.
"""

import argparse
import json
import random
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

if not __package__:  # run as a file: the folder above must be importable
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.truth import SHARED
from ragmetrics_core import Run, Sample, evaluate
from ragmetrics_core.models import OpenAIJudge
from ragmetrics_core.questions import BM25
from ragmetrics_core.samples import Turn
from ragmetrics_core.study import drawn_units, spearman_figure

Array = NDArray[np.float64]

Row = dict[str, Any]
"""A row of the set."""

Scores = dict[str, dict[str, float]]
"""The scores of each metric by the answer's id."""

METRICS = {
    "faithfulness": "faithfulness",
    "faithfulness/turn.1": "faithfulness",
    "answer_relevance": "completeness",
    "answer_relevance_rating": "completeness",
}
"""The rating that each metric should agree with."""

SEED = 1
_DRAWS = 4000
_USER = "|user|: "
ALONE, NAMED, DROPPED = "#alone", "#named", "#dropped"
CHANGES = {NAMED: "a name instead of a pronoun", DROPPED: "the first turn dropped"}
"""Endings of the ids of changed answers."""

PUBLISHED = ("rl_f", "rb_llm", "rb_agg", "Bert-KPrec", "Bert-Rec", "RougeL")
"""Metrics that the set's authors published; `rl_f` is faithfulness of ragas, `rb_llm` a judge's rating."""


class Pronoun(NamedTuple):
    """The first pronoun of a text that is a subject, or the only one of a question.

    Attributes:
        field: the text: answer or question.
        start: where the pronoun begins.
        text: the pronoun.
        name: what it stands for, as read by a person.
    """

    field: Literal["answer", "question"]
    start: int
    text: str
    name: str


# Answers are named by the beginning of the conversation, the turn and the model.
PRONOUNS: Mapping[str, Pronoun] = {
    "4c86 4 reference": Pronoun("answer", 353, "They", "The worker nodes"),
    "c6c3 2 llama-3.1-405b-instruct": Pronoun("question", 53, "it", "Vulnerability Advisor"),
    "04f8 5 llama-3.1-405b-instruct": Pronoun("answer", 55, "they", "children"),
    "4c86 5 gpt-4o": Pronoun("answer", 98, "It", "Kubernetes"),
    "5f9c 4 llama-3.1-405b-instruct": Pronoun("answer", 235, "They", "The scammers"),
    "f0d2 3 gpt-4o": Pronoun("answer", 479, "They", "The appellate courts"),
    "c6c3 7 gpt-4o": Pronoun("answer", 149, "It", "IBM Cloud® Container Registry"),
    "5f9c 8 llama-3.1-405b-instruct": Pronoun("answer", 82, "they", "scammers"),
    "04f8 6 gpt-4o": Pronoun("answer", 50, "It", "Swimming"),
    "5f9c 3 reference": Pronoun("answer", 155, "they", "the scammers"),
    "4c86 2 reference": Pronoun("answer", 174, "It", "The CIS Kubernetes Benchmark"),
    "4c86 6 gpt-4o": Pronoun("question", 64, "it", "IBM Cloud Kubernetes Service"),
    "35e6 2 gpt-4o": Pronoun("answer", 736, "it", "the order"),
    "c6c3 6 llama-3.1-405b-instruct": Pronoun("question", 82, "it", "encrypted images"),
    "6a73 6 gpt-4o": Pronoun("answer", 146, "it", "chemotherapy"),
    "f0d2 7 llama-3.1-405b-instruct": Pronoun("answer", 298, "They", "The district attorney"),
    "6a73 9 llama-3.1-405b-instruct": Pronoun("question", 11, "they", "the egg donors"),
    "5f9c 5 llama-3.1-405b-instruct": Pronoun("answer", 128, "they", "older adults and senior citizens"),
    "6a73 8 gpt-4o": Pronoun("answer", 168, "they", "the donors"),
    "c6c3 5 llama-3.1-405b-instruct": Pronoun("answer", 445, "it", "the image"),
    "f0d2 4 reference": Pronoun("answer", 115, "they", "the party"),
    "f0d2 6 reference": Pronoun("answer", 143, "They", "The Division of Child Support Services"),
    "6a73 4 reference": Pronoun("answer", 160, "It", "Chemotherapy"),
    "6a73 9 gpt-4o": Pronoun("answer", 288, "They", "The agencies"),
    "f0d2 5 llama-3.1-405b-instruct": Pronoun("answer", 447, "they", "the other parent"),
    "5f9c 7 llama-3.1-405b-instruct": Pronoun("answer", 542, "they", "small businesses"),
    "5f9c 6 llama-3.1-405b-instruct": Pronoun("answer", 410, "it", "the IRS"),
    "c6c3 9 gpt-4o": Pronoun("answer", 376, "It", "The name"),
    "35e6 5 gpt-4o": Pronoun("answer", 978, "it", "the order"),
    "4c86 4 llama-3.1-405b-instruct": Pronoun("answer", 316, "they", "unsupported Kubernetes versions"),
}


def read_rows(path: Path) -> list[Row]:
    """The rows of the set, in the order of the file."""
    with path.open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def contexts_of_turns(rows: Iterable[Row]) -> dict[tuple[str, int], list[str]]:
    """The contexts of each turn of each conversation; the answers of a turn have the same ones."""
    return {(row["conversation_id"], int(row["turn"])): row["contexts"] for row in rows}


def history_of(row: Row, contexts: Mapping[tuple[str, int], Sequence[str]]) -> list[Turn]:
    """The messages before a question, each answer with the contexts of its turn if these are known.

    >>> row = {"conversation_id": "c", "history": [{"speaker": "agent", "text": "Yes."}]}
    >>> history_of(row, {("c", 1): ["A chunk."]})[0].contexts
    ('A chunk.',)
    """
    messages: list[Turn] = []
    turn = 1
    for message in row["history"]:
        if message["speaker"] == "user":
            messages.append(Turn(role="user", content=message["text"]))
            continue
        chunks = contexts.get((row["conversation_id"], turn))
        known = None if chunks is None else tuple(chunks)
        messages.append(Turn(role="assistant", content=message["text"], contexts=known))
        turn += 1
    return messages


def sample_of(row: Row, ending: str = "", history: Sequence[Turn] = ()) -> Sample:
    """A row as a sample whose id has an ending, with a history if it is not empty."""
    return Sample(
        id=row["id"] + ending,
        question=row["question"],
        answer=row["answer"],
        contexts=tuple(row["contexts"]),
        history=tuple(history) or None,
    )


def pronoun_of(row: Row) -> Pronoun | None:
    """The pronoun of a row that is replaced, if it has one."""
    return PRONOUNS.get(f"{row['conversation_id'][:4]} {row['turn']} {row['model']}")


def named(row: Row, pronoun: Pronoun) -> Row:
    """The row with the name in place of the pronoun."""
    text = row[pronoun.field]
    end = pronoun.start + len(pronoun.text)
    if text[pronoun.start : end] != pronoun.text:
        raise SystemExit(
            f"{row['id']} has no {pronoun.text!r} at {pronoun.start}: is the set another version?"
        )
    return {**row, pronoun.field: text[: pronoun.start] + pronoun.name + text[end:]}


def drawn(rows: Iterable[Row], seed: int) -> list[Row]:
    """Rows with a history in a random order, one of each turn, and as many as possible of each conversation.

    Each round has one row of each conversation that has some left, so every beginning is balanced.
    """
    chance = random.Random(seed)
    turns: dict[str, dict[str, list[Row]]] = {}
    for row in rows:
        if row["history"]:
            own: dict[str, list[Row]] = turns.setdefault(row["conversation_id"], {})
            own.setdefault(row["task_id"], []).append(row)
    left: dict[str, list[Row]] = {
        name: [chance.choice(answers) for answers in chance.sample(list(tasks.values()), len(tasks))]
        for name, tasks in sorted(turns.items())
    }
    order: list[Row] = []
    while left:
        for name in chance.sample(sorted(left), len(left)):
            order.append(left[name].pop())
        left = {name: others for name, others in left.items() if others}
    return order


class Pair(NamedTuple):
    """Two scores of an answer, and its rating by people.

    Attributes:
        id: the row's id.
        conversation: the row's conversation.
        without: the score without the history.
        with_history: the score with it.
        people: mean rating of the raters.
    """

    id: str
    conversation: str
    without: float
    with_history: float
    people: float


def mean_rating(row: Row, rating: str) -> float:
    """Mean of the raters' numbers."""
    return float(np.mean(list(row["human_ratings"][rating].values())))


def paired(
    rows: Iterable[Row], rating: str, without: Mapping[str, float], with_history: Mapping[str, float]
) -> list[Pair]:
    """The rows that have both scores."""
    return [
        Pair(
            row["id"],
            row["conversation_id"],
            without[row["id"]],
            with_history[row["id"]],
            mean_rating(row, rating),
        )
        for row in rows
        if row["id"] in without and row["id"] in with_history
    ]


class Gain(NamedTuple):
    """Correlations of both scores with people.

    Attributes:
        n: number of pairs.
        without: Spearman's correlation of the scores without the history.
        with_history: the same with it.
        low, high: 95 % interval of the difference over resampled conversations.
        better: conversations within which the scores with the history agree better.
        worse: conversations within which they agree worse.
    """

    n: int
    without: float
    with_history: float
    low: float
    high: float
    better: int
    worse: int


def interval(figure: Callable[[Array], Array], conversations: Sequence[str]) -> tuple[float, float]:
    """The 95 % interval of a figure over resampled conversations.

    The study room gives no interval for fewer than ten conversations. This one is by plain quantiles, which
    are too narrow then: it can show that a difference may be chance, but not that it is more.

    Args:
        figure: from rows of weights of the answers.
        conversations: each answer's conversation.
    """
    names = sorted(set(conversations))
    places = [names.index(name) for name in conversations]
    resamples = drawn_units(len(names), width=len(places), count=_DRAWS, seed=SEED)
    values = np.concatenate([figure(weights[:, places]) for weights in resamples])
    low, high = np.nanquantile(values, [0.025, 0.975])
    return float(low), float(high)


def mean_interval(values: Array, conversations: Sequence[str]) -> tuple[float, float]:
    """The 95 % interval of a mean over resampled conversations; see `interval`."""
    return interval(lambda weights: weights @ values / weights.sum(axis=1), conversations)


def gain(pairs: Sequence[Pair]) -> Gain:
    """The difference of two correlations with people, with whole conversations resampled."""
    people = [pair.people for pair in pairs]
    figures = [
        spearman_figure(column, people)
        for column in ([pair.without for pair in pairs], [pair.with_history for pair in pairs])
    ]

    def change(weights: Array) -> Array:
        return np.asarray(figures[1](weights) - figures[0](weights))

    conversations = [pair.conversation for pair in pairs]
    everything = np.ones((1, len(pairs)))
    low, high = interval(change, conversations)
    own = [np.array([[float(one == name) for one in conversations]]) for name in sorted(set(conversations))]
    changes = [float(change(weights)[0]) for weights in own]
    return Gain(
        n=len(pairs),
        without=float(figures[0](everything)[0]),
        with_history=float(figures[1](everything)[0]),
        low=low,
        high=high,
        better=sum(change > 1e-9 for change in changes),
        worse=sum(change < -1e-9 for change in changes),
    )


def agreement_lines(rows: Sequence[Row], without: Scores, with_history: Scores) -> Iterator[str]:
    """A table of the metrics."""
    yield "| metric | rating | answers | without | with | difference | conversations better, worse |"
    yield "| --- | --- | --- | --- | --- | --- | --- |"
    for metric, rating in METRICS.items():
        pairs = paired(rows, rating, without.get(metric, {}), with_history.get(metric, {}))
        if len(pairs) < 3:
            yield f"| {metric} | {rating} | {len(pairs)} | | | | |"
            continue
        result = gain(pairs)
        yield (
            f"| {metric} | {rating} | {result.n} | {result.without:.2f} | {result.with_history:.2f} "
            f"| {result.with_history - result.without:+.2f} ({result.low:+.2f}, {result.high:+.2f}) "
            f"| {result.better}, {result.worse} |"
        )


def published_lines(rows: Sequence[Row], scores: Scores) -> Iterator[str]:
    """A table of the published metrics on the answers that the first metric of each rating scores."""
    answers: dict[str, list[Row]] = {}
    for metric, rating in METRICS.items():
        answers.setdefault(rating, [row for row in rows if row["id"] in scores.get(metric, {})])
    yield f"| published metric | {' | '.join(f'{name}, {len(some)}' for name, some in answers.items())} |"
    yield f"| --- {'| --- ' * len(answers)}|"
    for name in PUBLISHED:
        cells = [_published(name, rating, some) for rating, some in answers.items()]
        yield f"| {name} | {' | '.join(cells)} |"


def _published(name: str, rating: str, rows: Sequence[Row]) -> str:
    if len(rows) < 3:
        return ""
    figure = spearman_figure(
        [row["published_metrics"][name] for row in rows], [mean_rating(row, rating) for row in rows]
    )
    return f"{float(figure(np.ones((1, len(rows))))[0]):.2f}"


def embedded(rows: Sequence[Row]) -> Iterator[str]:
    """Agreement of the embedded judge's scores with people, and the scores of changed answers."""
    contexts = contexts_of_turns(rows)
    arms = {
        "none": [sample_of(row) for row in rows],
        "attached": [sample_of(row, history=history_of(row, contexts)) for row in rows],
        "left out": [sample_of(row, history=history_of(row, {})) for row in rows],
    }

    def scored(samples: Sequence[Sample], metrics: Iterable[str]) -> Scores:
        run = evaluate(samples, metrics=metrics, judge="embedded", embedder="embedded", progress=False)
        return scores_of(run)

    scores = {name: scored(samples, METRICS) for name, samples in arms.items()}
    later = [row for row in rows if row["history"]]
    for turns, some in (("turns with a history", later), ("all turns", rows)):
        for arm in ("attached", "left out"):
            yield f"\n{turns}; contexts of earlier turns {arm}\n"
            yield from agreement_lines(some, scores["none"], scores[arm])
        yield ""
        yield from published_lines(some, scores["none"])
    changed = [sample for row in rows for sample in changed_samples(row, history_of(row, contexts))]
    found = scored(changed, ["faithfulness"])["faithfulness"]
    yield ""
    yield from (changes_line(found, ending) for ending in CHANGES)


def scores_of(run: Run) -> Scores:
    """The scores of each metric by the sample's id."""
    found: Scores = {}
    for record in run.records():
        name = record.signature if record.signature in METRICS else record.metric
        if record.value is not None:
            found.setdefault(name, {})[record.sample_id] = record.value
    return found


def changed_samples(row: Row, history: Sequence[Turn]) -> list[Sample]:
    """A row with a pronoun, the same with the name, and, from turn 3 on, without the first turn."""
    pronoun = pronoun_of(row)
    if pronoun is None:
        return []
    samples = [sample_of(row, history=history), sample_of(named(row, pronoun), NAMED, history)]
    if int(row["turn"]) >= 3:
        samples.append(sample_of(row, DROPPED, history[2:]))
    return samples


def changes_line(scores: Mapping[str, float], ending: str) -> str:
    """Count the scores that differ between a sample and the one whose id has an ending."""
    pairs = [
        (scores[name.removesuffix(ending)], value)
        for name, value in scores.items()
        if name.endswith(ending) and name.removesuffix(ending) in scores
    ]
    changes = [abs(after - before) for before, after in pairs]
    changed = [change for change in changes if change > 1e-9]
    if not pairs:
        return f"{CHANGES[ending]}: no scores yet"
    return (
        f"{CHANGES[ending]}: {len(changed)} of {len(pairs)} scores change ({len(changed) / len(pairs):.0%}), "
        f"by {np.mean(changes):.3f} on average of all, {max(changes):.2f} at most"
    )


def measure_model(rows: Sequence[Row], judge: OpenAIJudge, out: Path, *, turns: int, changed: int) -> None:
    """Score the drawn turns with a model, each with and without its history, and changed answers.

    The cheap metric comes first, so that a run that is stopped has stand-alone questions of many turns.
    """
    contexts = contexts_of_turns(rows)
    drawn_rows = drawn(rows, SEED)[:turns]
    first = {row["id"] for row in drawn_rows}
    others = [row for row in rows if row["id"] not in first]
    both: dict[str, list[Sample]] = {}
    changes: dict[str, list[Sample]] = {}
    for row in [*drawn_rows, *others]:
        history = history_of(row, contexts)
        if row["id"] in first:
            both[row["id"]] = [sample_of(row, history=history), sample_of(row, ALONE)]
        samples = changed_samples(row, history)
        if samples and len(changes) < changed:
            changes[row["id"]] = samples

    def measure(metric: str, folder: str, samples: Sequence[Sample]) -> None:
        evaluate(
            samples,
            metrics=metric,
            judge=judge,
            embedder="embedded",
            out=out / folder,
            add=True,
            cache=out / "journal.sqlite",
            concurrency=1,
            timeout=3600,
            attempts=2,
            progress=False,
        )

    for samples in both.values():
        measure("answer_relevance", "answer_relevance", samples)
    for name in dict.fromkeys([*both, *changes]):
        for folder, some in (("faithfulness", both), ("changes", changes)):
            if name in some:
                measure("faithfulness", folder, some[name])
    for samples in both.values():
        measure("answer_relevance_rating", "answer_relevance_rating", samples)


def model_lines(rows: Sequence[Row], out: Path) -> Iterator[str]:
    """The figures of what a model has scored so far."""
    scores: Scores = {}
    for metric in METRICS:
        if (out / metric).is_dir():
            scores |= scores_of(Run.load(out / metric))
    without = {
        metric: {name.removesuffix(ALONE): value for name, value in values.items() if name.endswith(ALONE)}
        for metric, values in scores.items()
    }
    yield from agreement_lines(rows, without, scores)
    yield ""
    yield from published_lines(rows, without)
    if (out / "changes").is_dir():
        found = scores_of(Run.load(out / "changes")).get("faithfulness", {})
        yield ""
        yield from (changes_line(found, ending) for ending in CHANGES)


def standalone_questions(run: Run, rows: Iterable[Row]) -> dict[str, str]:
    """The stand-alone questions of a run, by the turn's id."""
    turns = {row["id"]: row["task_id"] for row in rows}
    return {
        turns[record.sample_id]: record.standalone
        for record in run.records()
        if record.standalone is not None and record.sample_id in turns
    }


def questions_of_judges(rows: Sequence[Row], out: Path | None) -> dict[str, dict[str, str]]:
    """The stand-alone questions of the embedded judge, and of a model's runs in a folder."""
    contexts = contexts_of_turns(rows)
    turns = {row["task_id"]: row for row in rows if row["history"]}
    samples = [sample_of(row, history=history_of(row, contexts)) for row in turns.values()]
    run = evaluate(samples, metrics="answer_relevance_rating", judge="embedded", progress=False)
    found = {"the embedded judge": standalone_questions(run, rows)}
    if out is not None:
        found["the model"] = standalone_questions(Run.load(out / "answer_relevance"), rows)
    return found


def read_queries(folder: Path, kind: str) -> dict[str, str]:
    """The queries of a kind by their ids, from all files of mtrag's retrieval tasks in a folder."""
    found: dict[str, str] = {}
    for path in sorted(folder.glob(f"*_{kind}.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            query = json.loads(line)
            found[query["_id"]] = query["text"].removeprefix(_USER).strip()
    return found


def rewrites(folder: Path) -> dict[str, str]:
    """The authors' stand-alone question for each question as typed; a question that occurs twice has none."""
    typed, rewritten = read_queries(folder, "lastturn"), read_queries(folder, "rewrite")
    times = Counter(typed.values())
    return {text: rewritten[id_] for id_, text in typed.items() if times[text] == 1 and id_ in rewritten}


def retrieval_lines(
    rows: Sequence[Row], authors: Mapping[str, str], ours: Mapping[str, Mapping[str, str]]
) -> Iterator[str]:
    """Recall of BM25 in its first five passages, for each way of asking.

    Args:
        rows: the set; a turn's contexts are its relevant passages, as the authors judged.
        authors: the authors' stand-alone questions by the question as typed.
        ours: names of judges, and their stand-alone questions by the turn's id.
    """
    passages = list(dict.fromkeys(chunk for row in rows for chunk in row["contexts"]))
    index = BM25(passages)
    turns = {
        row["task_id"]: row
        for row in rows
        if row["history"] and row["contexts"] and row["question"].strip() in authors
    }

    def recalls(query_of: Callable[[str, Row], str], ids: Iterable[str]) -> Array:
        shares: list[float] = []
        for id_ in ids:
            row = turns[id_]
            best = {passages[number] for number in index.rank(query_of(id_, row), 5)}
            shares.append(float(np.mean([chunk in best for chunk in row["contexts"]])))
        return np.array(shares)

    yield f"{len(passages)} passages"
    yield "| questions of | turns | typed | rewritten | by the authors | gain | share of the authors' gain |"
    yield "| --- | --- | --- | --- | --- | --- | --- |"
    for name, questions in ours.items():
        ids = [id_ for id_ in turns if id_ in questions]
        if not ids:
            yield f"| {name} | 0 | | | | | |"
            continue
        typed = recalls(lambda _, row: str(row["question"]), ids)
        own = recalls(lambda id_, _: questions[id_], ids)  # noqa: B023 - called at once
        best = recalls(lambda _, row: authors[row["question"].strip()], ids)
        low, high = mean_interval(own - typed, [turns[id_]["conversation_id"] for id_ in ids])
        whole = float(np.mean(best - typed))
        share = f"{np.mean(own - typed) / whole:.2f}" if whole > 0 else "none"
        yield (
            f"| {name} | {len(ids)} | {np.mean(typed):.3f} | {np.mean(own):.3f} | {np.mean(best):.3f} "
            f"| {np.mean(own - typed):+.3f} ({low:+.3f}, {high:+.3f}) | {share} |"
        )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    ways = parser.add_subparsers(dest="way", required=True)
    ways.add_parser("embedded", help="the embedded judge on all turns")
    model = ways.add_parser("model", help="a model on some turns")
    model.add_argument("judge", help="the model and its server: MODEL@URL")
    model.add_argument("--out", required=True, type=Path, help="folder of the runs")
    model.add_argument("--turns", type=int, default=40, help="number of turns with a history")
    model.add_argument("--changed", type=int, default=30, help="number of answers that are changed")
    model.add_argument("--figures", action="store_true", help="only print the figures of the folder")
    retrieval = ways.add_parser("retrieval", help="BM25 with the questions as typed and rewritten")
    retrieval.add_argument("queries", type=Path, help="folder of mtrag's retrieval tasks")
    retrieval.add_argument("--run", type=Path, help="folder of a model's runs, for its questions")
    given = parser.parse_args()
    rows = read_rows(SHARED / "mtrag_human" / "mtrag_human.jsonl")
    lines: Iterator[str]
    if given.way == "embedded":
        lines = embedded(rows)
    elif given.way == "model":
        if not given.figures:
            name, _, url = given.judge.partition("@")
            judge = OpenAIJudge(name, base_url=url, max_tokens=900)
            measure_model(rows, judge, given.out, turns=given.turns, changed=given.changed)
        lines = model_lines(rows, given.out)
    else:
        lines = retrieval_lines(rows, rewrites(given.queries), questions_of_judges(rows, given.run))
    for line in lines:
        print(line)


if __name__ == "__main__":
    main()
