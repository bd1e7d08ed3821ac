"""How a case of ragas is put to our metrics: its inputs become a sample, the judge's replies and vectors.

A case gives verdicts, statements, ratings or vectors and the score that ragas made of them. Only what the
models say is scripted here; the score comes from the real metric, run by `evaluate`.
"""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any, NamedTuple

import pytest

from ragmetrics_core import Metric, Record, evaluate
from ragmetrics_core.metrics import (
    AnswerAccuracy,
    AnswerCorrectness,
    AnswerRelevance,
    AnswerSimilarity,
    ContextEntityRecall,
    ContextPrecision,
    ContextRecall,
    ContextRelevance,
    ContextRelevanceRating,
    FactualCorrectness,
    Faithfulness,
    GroundednessRating,
    NoiseSensitivity,
    RetrievalPrecision,
    RetrievalRecall,
)
from ragmetrics_core.protocol import Generate
from ragmetrics_core.samples import Sample
from ragmetrics_core.testing import HashEmbedder, ScriptedJudge

Case = Mapping[str, Any]
Inputs = Mapping[str, Any]
RunCase = Callable[[Case], Record]

# The newest version of each line that we keep as a variant.
OUR_VARIANT = {
    "ragas-0.0.11": "ragas-0.1",
    "ragas-0.1.7": "ragas-0.1",
    "ragas-0.1.21": "ragas-0.1",
    "ragas-0.4.3": "ragas-0.4",
}


class Trial(NamedTuple):
    """One of our metrics, and what the models are going to say."""

    metric: Metric[Any]
    replies: Mapping[str, Any] | Callable[[Generate[Any]], Any] = MappingProxyType({})
    vectors: Mapping[str, Sequence[float]] = MappingProxyType({})
    sample: Mapping[str, Any] = MappingProxyType({})


class Later(NamedTuple):
    """A metric of ragas that ours have no counterpart of yet."""

    why: str


def is_legacy(case: Case) -> bool:
    """Whether a 0.4 case was made with the older of the two sets of metrics that 0.4 holds."""
    return case["variant"].startswith("ragas-0.4") and "metrics._" in case["source"]


def named(what: str, count: int) -> list[str]:
    """As many texts as a case has verdicts: which texts they are does not enter a score."""
    return [f"{what} number {number}." for number in range(1, count + 1)]


def numbered(values: Sequence[object]) -> dict[str, Any]:
    """The judge's verdicts: 1 and 0 in the words of our form, any other value as the case gives it."""
    words = {1: "yes", 0: "no", "1": "yes", "0": "no"}
    given = [words.get(value, value) if isinstance(value, str | int) else value for value in values]
    return {"verdicts": [{"number": number, "verdict": value} for number, value in enumerate(given, 1)]}


def statements(texts: Sequence[str], *, declined: bool = True) -> dict[str, Any]:
    """The statements of an answer; those of a reference without the word on whether it declines."""
    return {"statements": list(texts)} | ({"declined": False} if declined else {})


SAMPLE_FIELDS = {
    "user_input": "question",
    "question": "question",
    "response": "answer",
    "answer": "answer",
    "retrieved_contexts": "contexts",
    "contexts": "contexts",
    "reference": "reference",
    "ground_truth": "reference",
}


def of_sample(inputs: Inputs) -> dict[str, Any]:
    """The fields of a sample that a case gives, under our names."""
    return {SAMPLE_FIELDS[name]: value for name, value in inputs.items() if name in SAMPLE_FIELDS}


def free_text(inputs: Inputs) -> str | None:
    """The verdicts as running text, as versions before 0.0.22 asked for them."""
    texts = {name: value for name, value in inputs.items() if isinstance(value, str)}
    return next(
        (text for name, text in texts.items() if "statement" not in name and name not in SAMPLE_FIELDS), None
    )


def final_list(text: str) -> str:
    """Where the verdicts stand in a running text: in its final list, else behind each "verdict:"."""
    _, found, final = text.casefold().partition("in order:")
    return final if found else " ".join(re.findall(r"verdict:\W*(?:yes|no)\b", text.casefold()))


def statement_count(inputs: Inputs, verdicts: Sequence[object]) -> int:
    """How many statements a case has: as texts, as a reply of one a line, as a number, or not given."""
    for name, value in inputs.items():
        if "statement" in name and isinstance(value, str):
            return len([line for line in value.splitlines() if line.strip()])
        if "statement" in name and isinstance(value, list | int):
            return value if isinstance(value, int) else len(value)
    return len(verdicts)


def of_faithfulness(case: Case, variant: str) -> Trial:
    inputs = case["inputs"]
    text = free_text(inputs)
    if text is not None:
        written = re.findall(r"\b(?:yes|no)\b", text.casefold())
        texts = named("Statement", max(1, statement_count(inputs, written)))
        listed = "\n".join([*(f"{number}. {each}" for number, each in enumerate(texts, 1)), "END"])
        words = [word.capitalize() for word in re.findall(r"\b(?:yes|no)\b", final_list(text))]
        lines = [f"{number}. So it is. Verdict: {word}." for number, word in enumerate(words, 1)]
        last = " ".join(f"{number}. {word}." for number, word in enumerate(words, 1))
        verdicts = "\n".join([*lines, f"Final verdicts: {last}"]) if words else text
        return Trial(Faithfulness(variant="paper"), {"paper_statements": listed, "paper_verdicts": verdicts})
    verdicts = inputs.get("verdicts", [])
    texts = named("Statement", statement_count(inputs, verdicts))
    replies = {"statements": statements(texts), "verdicts": numbered(verdicts)}
    return Trial(Faithfulness(variant=variant), replies, sample=of_sample(inputs))


def of_answer_relevancy(case: Case, variant: str) -> Trial:
    inputs = case["inputs"]
    vectors = inputs.get("generated_question_vectors", [])
    written = inputs.get("generated_questions", named("Question", len(vectors)))
    vectors = vectors or [[1, 0]] * len(written)
    flags = inputs.get("noncommittal", [0] * len(written))
    # two questions of one text could not have a vector each
    texts = [text and f"{text} ({number})" for number, text in enumerate(written, start=1)]
    questions = [
        {"question": text, "noncommittal": bool(flag)} for text, flag in zip(texts, flags, strict=True)
    ]
    # a judge that has no question to offer writes an empty list: our form has no place for blank ones
    reply = {"questions": questions if any(texts) else []}
    by_text = {
        "the question": inputs.get("question_vector", [1, 0]),
        **dict(zip(texts, vectors, strict=True)),
    }
    settings: dict[str, Any] = {"without_questions": None} if is_legacy(case) else {}
    metric = AnswerRelevance(variant=variant, n_questions=max(1, len(texts)), **settings)
    return Trial(metric, {"questions": reply}, by_text, {"question": "the question"} | of_sample(inputs))


def of_context_relevance(case: Case, variant: str) -> Trial:
    inputs = case["inputs"]
    del variant  # the metric left ragas before 0.2, so there is one variant of it
    metric = ContextRelevance(variant="ragas-0.1")
    reply = str(inputs["llm_reply"])
    # our form ends with a line of its own
    ended = reply if "insufficient information" in reply.casefold() or not reply.strip() else f"{reply}\nEND"
    return Trial(metric, {"paper_sentences": ended}, sample={"contexts": inputs["contexts"]})


def facts(answer: Sequence[object], reference: Sequence[object]) -> dict[str, Any]:
    return {
        "statements": statements(named("Answer statement", len(answer))),
        "reference_statements": statements(named("Reference statement", len(reference)), declined=False),
        "reference_verdicts": numbered(answer),
        "answer_verdicts": numbered(reference),
    }


def of_counts(case: Case, variant: str) -> Trial:
    i = case["inputs"]
    settings: dict[str, Any] = {"digits": None} if variant == "ragas-0.4" else {}
    metric = FactualCorrectness(variant=variant, beta=i.get("beta", 1.0), **settings)
    return Trial(metric, facts([1] * i["TP"] + [0] * i["FP"], [0] * i["FN"]))


def of_factual_correctness(case: Case, variant: str) -> Trial:
    i = case["inputs"]
    mode = {"f1": "f"}.get(i.get("mode", "f1"), i.get("mode"))
    metric = FactualCorrectness(variant=variant, mode=mode, beta=i.get("beta", 1.0))
    return Trial(metric, facts(i.get("response_claim_verdicts", [1]), i.get("reference_claim_verdicts", [1])))


def of_answer_correctness(case: Case, variant: str) -> Trial:
    i = case["inputs"]
    counted = [1] * i.get("TP", 1) + [0] * i.get("FP", 0)
    missed = [0] * i.get("FN", 0)
    answer = counted if i.get("response_statements", 1) else []
    # recall is counted in answer statements, so one covered statement can stand for all
    reference = (missed or [1]) if i.get("reference_statements", 1) else []
    replies = facts(answer, reference)
    if not counted and i.get("response_statements", 1):
        replies["statements"] = statements(named("Answer statement", 1))  # on which the judge says nothing
    similarity = 0.0 if i.get("similarity", 1.0) is None else i.get("similarity", 1.0)
    vectors = {"the reference": [1.0, 0.0], "the answer": [similarity, math.sqrt(1 - similarity**2)]}
    usual = AnswerCorrectness(variant=variant)
    settings: dict[str, Any] = {"beta": i["beta"]} if "beta" in i else {}
    settings |= {"empty": "zero"} if is_legacy(case) else {}
    factual = replace(usual.factual, settings={**usual.factual.settings, **settings})
    metric = AnswerCorrectness(
        variant=variant, factual=factual, weights=tuple(i.get("weights", usual.weights))
    )
    return Trial(metric, replies, vectors, {"answer": "the answer", "reference": "the reference"})


def of_context_precision(case: Case, variant: str) -> Trial:
    verdicts = case["inputs"].get("verdicts", [])
    sample = {"contexts": named("Chunk", len(verdicts))} | of_sample(case["inputs"])
    return Trial(ContextPrecision(variant=variant), {"chunk_verdicts": numbered(verdicts)}, sample=sample)


def of_context_recall(case: Case, variant: str) -> Trial:
    attributed = case["inputs"].get("attributed", [])
    texts = named("Statement", statement_count(case["inputs"], attributed))
    replies = {"reference_statements": statements(texts, declined=False), "verdicts": numbered(attributed)}
    return Trial(ContextRecall(variant=variant), replies, sample=of_sample(case["inputs"]))


def of_entity_recall(case: Case, variant: str) -> Trial:
    i = case["inputs"]
    settings = {"distinct": False} if is_legacy(case) else {}
    replies = {
        "entities": {"entities": i.get("reference_entities", [])},
        "context_entities": {"entities": i.get("context_entities", [])},
    }
    return Trial(ContextEntityRecall(variant=variant, **settings), replies, sample=of_sample(i))


def of_similarity(case: Case, variant: str) -> Trial:
    i = case["inputs"]
    vectors = {
        "the reference": i.get("reference_vector", [1, 0]),
        "the answer": i.get("response_vector", [1, 0]),
    }
    metric = AnswerSimilarity(variant=variant, threshold=i.get("threshold"))
    return Trial(metric, vectors=vectors, sample={"answer": "the answer", "reference": "the reference"})


def of_noise_sensitivity(case: Case, variant: str) -> Trial:
    inputs = case["inputs"]
    tables = {
        "Answer": inputs["context_supports_answer_statement"],
        "Reference": inputs["context_supports_reference_statement"],
    }
    chunks = named("Chunk", len(tables["Answer"]))
    correct = inputs["reference_supports_answer_statement"]

    def reply(request: Generate[Any]) -> dict[str, Any]:
        if request.prompt.name.endswith("statements"):
            side = "Answer" if request.prompt.name == "statements" else "Reference"
            return statements(named(side, len(tables[side][0])), declined=side == "Answer")
        if request.prompt.name == "reference_verdicts":
            return numbered(correct)
        side = request.variables["items"][0].text.split()[0]
        return numbered(tables[side][chunks.index(request.variables["contexts"][0])])

    metric = NoiseSensitivity(variant=variant, mode=inputs["mode"])
    return Trial(metric, reply, sample={"contexts": chunks})


def of_ratings(metric: type[Metric[Any]], *names: str) -> Callable[[Case, str], Trial]:
    """The ratings of both judges, one for each attempt; a prompt alone is asked with roles exchanged."""

    def translate(case: Case, variant: str) -> Trial:
        inputs = case["inputs"]
        texts = {
            "question": inputs.get("user_input", "a question"),
            "answer": inputs.get("response", "An answer."),
            "reference": inputs.get("reference", "A reference."),
            "contexts": inputs.get("retrieved_contexts", ["A chunk."]),
        }

        def reply(request: Generate[Any]) -> Any:
            exchanged = {"first": texts["reference"], "second": texts["answer"]}
            is_exchanged = all(request.variables.get(key) == text for key, text in exchanged.items())
            both_alike = texts["answer"] == texts["reference"]
            second = request.prompt.name == names[-1] if len(names) > 1 else is_exchanged and not both_alike
            ratings = inputs["judge2_ratings" if second else "judge1_ratings"]
            rating = ratings[min(request.again, len(ratings) - 1)]
            return "I cannot say." if rating is None else {"reason": "because", "rating": rating}

        return Trial(metric(variant=variant), reply, sample=texts)

    return translate


def of_ids(metric: type[Metric[Any]]) -> Callable[[Case, str], Trial]:
    def translate(case: Case, variant: str) -> Trial:
        del variant
        retrieved, relevant = case["inputs"]["retrieved_ids"], case["inputs"]["reference_ids"]
        return Trial(metric(), sample={"context_ids": retrieved, "reference_context_ids": relevant})

    return translate


METRICS: dict[str, Callable[[Case, str], Trial] | Later] = {
    "faithfulness": of_faithfulness,
    "answer_relevancy": of_answer_relevancy,
    "context_relevance_sentence_ratio": of_context_relevance,
    "factual_correctness_tp_fp_fn": of_counts,
    "factual_correctness": of_factual_correctness,
    "answer_correctness": of_answer_correctness,
    "context_precision": of_context_precision,
    "context_recall": of_context_recall,
    "context_entity_recall": of_entity_recall,
    "semantic_similarity": of_similarity,
    "noise_sensitivity": of_noise_sensitivity,
    "context_relevance": of_ratings(ContextRelevanceRating, "context_grade", "context_grade_again"),
    "response_groundedness": of_ratings(GroundednessRating, "grounding_grade", "grounding_grade_again"),
    "answer_accuracy": of_ratings(AnswerAccuracy, "accuracy_grade"),
    "quoted_spans_alignment": Later("it looks for quotations without a model; such metrics come later"),
    "id_context_precision": of_ids(RetrievalPrecision),
    "id_context_recall": of_ids(RetrievalRecall),
}


@pytest.fixture(scope="session")
def counterparts() -> Mapping[str, Callable[[Case, str], Trial] | Later]:
    """Our counterpart of each metric of ragas, or why there is none."""
    return METRICS


@pytest.fixture(scope="session")
def run_case() -> RunCase:
    """Run a case through our metric."""

    def run(case: Case) -> Record:
        translate = METRICS[case["metric"]]
        assert not isinstance(translate, Later)
        trial = translate(case, OUR_VARIANT[case["variant"]])
        texts = {"question": "a question", "answer": "An answer.", "reference": "A reference."}
        row = {"id": case["id"], **texts, "contexts": ["A chunk."], **trial.sample}
        # the other library takes a blank text for a text
        blank = {name: text for name, text in row.items() if isinstance(text, str) and not text.strip()}
        sample = Sample.from_mapping(row).model_copy(update=blank)
        run = evaluate(
            [sample],
            metrics=[trial.metric],
            judge=ScriptedJudge(trial.replies),
            embedder=HashEmbedder(vectors=trial.vectors),
        )
        return run.score(case["id"], trial.metric)

    return run
