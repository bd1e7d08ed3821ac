"""Test sets of other libraries are read as questions whose quotes are places in the corpus."""

import csv
import json
from pathlib import Path

import pytest

from ragmetrics_core.errors import SampleError
from ragmetrics_core.questions import Document, read_corpus, read_questions

RHINE = "The Rhine is 1,233 km long. It rises in the Swiss Alps and flows into the North Sea."
SAVA = "The Sava is the longest river of Slovenia. It joins the Danube in Belgrade."
CORPUS = read_corpus([Document(id="rhine.md", text=RHINE), Document(id="sava.md", text=f"# Sava\n\n{SAVA}")])
QUESTION = "How long is the Rhine?"
LENGTH = "The Rhine is 1,233 km long."
META = {"country": "de"}
FREE = "1,233 km from the Alps to the sea."

# rows as each library writes them: the gold passage is the whole text on the Rhine
RAGAS = {
    "user_input": QUESTION, "reference_contexts": [RHINE], "reference": FREE, "persona_name": "Captain",
    "query_style": "MISSPELLED", "query_length": "SHORT",
    "synthesizer_name": "single_hop_specific_query_synthesizer",
}  # fmt: skip
DEEPEVAL = {
    "input": QUESTION, "actual_output": None, "expected_output": FREE, "retrieval_context": None,
    "context": [RHINE], "name": None, "source_file": "files/rhine.md",
}  # fmt: skip
LLAMA_INDEX = {
    "query": QUESTION, "query_by": {"model_name": "m", "type": "ai"}, "reference_contexts": [RHINE],
    "reference_answer": FREE, "reference_answer_by": None,
}  # fmt: skip
AUTORAG = {"qid": "q1", "query": QUESTION, "retrieval_gt": [["rhine.md"]], "generation_gt": [FREE]}
ROWS = {"ragas": RAGAS, "deepeval": DEEPEVAL, "llama_index": LLAMA_INDEX, "autorag": AUTORAG}


def quoted(candidate):
    return [quote.text for quote in candidate.question.quotes]


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS)
@pytest.mark.parametrize("form", ["list", "json", "jsonl", "csv", "frame", "parquet"])
def test_the_same_question_is_read_from_each_library_and_form(row, form, tmp_path):
    source: object = [row]
    if form == "json":
        source = write(tmp_path / "set.json", json.dumps({"examples": [row]} if "query_by" in row else [row]))
    elif form == "jsonl":
        source = write(tmp_path / "set.jsonl", json.dumps(row) + "\n")
    elif form == "csv":
        source = tmp_path / "set.csv"
        with source.open("w", newline="", encoding="utf-8") as file:
            lines = csv.DictWriter(file, row)
            lines.writeheader()
            lines.writerow(
                {name: json.dumps(cell) if isinstance(cell, list) else cell for name, cell in row.items()}
            )
    elif form in ("frame", "parquet"):
        source = pytest.importorskip("pandas", reason="reads data frames").DataFrame([row])
        if form == "parquet":
            pytest.importorskip("pyarrow", reason="writes Parquet files")
            source.to_parquet(tmp_path / "set.parquet")
            source = tmp_path / "set.parquet"
    (candidate,) = read_questions(source, CORPUS).candidates
    question = candidate.question
    assert (question.question, question.answer, candidate.not_found) == (QUESTION, FREE, ())
    # the answer is not in the words of the text, so that the whole gold passage is the quote
    (quote,) = question.quotes
    assert (quote.document, quote.start, quote.end, quote.text) == ("rhine.md", 0, len(RHINE), RHINE)


def test_the_labels_of_ragas_become_those_of_the_question():
    (question,) = read_questions([RAGAS], CORPUS).questions
    assert (question.kind, question.style, question.length) == ("single_hop_specific", "misspelled", "short")
    assert question.persona.name == "Captain"
    assert question.labels == {}


def test_an_unknown_style_stays_a_label():
    (question,) = read_questions([RAGAS | {"query_style": "Formal"}], CORPUS).questions
    assert (question.style, question.labels) == (None, {"query_style": "Formal"})


@pytest.mark.parametrize("answer", [LENGTH, "the rhine is 1,233  km long"])
def test_the_sentence_that_holds_the_answer_word_for_word_is_the_quote(answer):
    (candidate,) = read_questions([RAGAS | {"reference": answer}], CORPUS).candidates
    assert quoted(candidate) == [LENGTH]


def test_a_passage_that_the_answer_needs_is_never_left_out():
    hops = [f"<1-hop>\n\n{RHINE}", f"<2-hop>\n\n{SAVA}"]
    row = RAGAS | {"reference_contexts": hops}
    # the first passage alone holds this answer
    (both,) = read_questions([row | {"reference": LENGTH}], CORPUS).candidates
    assert quoted(both) == [RHINE, SAVA]
    (each,) = read_questions(
        [row | {"reference": f"{LENGTH} It joins the Danube in Belgrade."}], CORPUS
    ).candidates
    assert quoted(each) == [LENGTH, "It joins the Danube in Belgrade."]


def test_a_passage_outside_the_corpus_is_reported_and_never_replaced():
    row = RAGAS | {"reference_contexts": [RHINE, "The Elbe rises in the Giant Mountains of Czechia."]}
    (candidate,) = read_questions([row], CORPUS).candidates
    assert quoted(candidate) == [RHINE]
    assert candidate.not_found == ("The Elbe rises in the Giant Mountains of Czechia.",)


def test_of_the_ids_of_one_group_one_passage_is_enough():
    # AutoRAG: all groups are needed, and one passage of each
    row = AUTORAG | {"retrieval_gt": [["gone.md", "sava.md"], ["rhine.md"]]}
    (candidate,) = read_questions([row], CORPUS).candidates
    assert [quote.document for quote in candidate.question.quotes] == ["sava.md", "rhine.md"]
    (missing,) = read_questions([AUTORAG | {"retrieval_gt": [["gone.md"]]}], CORPUS).candidates
    assert missing.not_found == ("gone.md",)


def test_contexts_that_deepeval_joins_in_one_cell_are_found_one_by_one(tmp_path):
    rows = f'input,expected_output,context\n{QUESTION},far,"{RHINE}|{SAVA}"\n'
    (candidate,) = read_questions(write(tmp_path / "goldens.csv", rows), CORPUS).candidates
    assert quoted(candidate) == [RHINE, SAVA]


def test_a_system_answer_is_never_taken_for_the_gold_answer():
    good = RAGAS
    bad = {"question": QUESTION, "answer": FREE, "reference_contexts": [RHINE]}
    result = read_questions([bad, good], CORPUS)
    assert len(result.candidates) == 1
    assert [str(row) for row in result.skipped] == [
        "row 1: it has an answer and no gold answer; name the column 'reference' if the answer is the gold "
        "answer"
    ]


def test_a_source_without_questions_is_refused():
    with pytest.raises(SampleError, match="holds no question; its first row: row 1"):
        read_questions([{"reference": "only this"}], CORPUS)


def test_quotes_of_our_own_set_are_found_again_after_the_text_moved():
    quote = {"document": "rhine.md", "start": 0, "end": len(LENGTH), "text": LENGTH}
    row = {"id": "q-1", "question": QUESTION, "reference": FREE, "quotes": [quote]}
    moved = read_corpus([Document(id="rhine.md", text=f"News.\n\n{RHINE}")])
    (candidate,) = read_questions([row], moved).candidates
    assert candidate.question.id == "q-1"
    (found,) = candidate.question.quotes
    assert (found.start, found.text) == (len("News.\n\n"), LENGTH)
    (gone,) = read_questions([row], read_corpus([Document(id="rhine.md", text=SAVA)])).candidates
    assert gone.not_found == (LENGTH,)


def test_a_knowledge_graph_of_ragas_is_a_corpus(tmp_path):
    graph = {
        "nodes": [
            {"id": "1", "type": "document", "properties": {"page_content": RHINE, "document_metadata": META}},
            {"id": "2", "type": "chunk", "properties": {"page_content": LENGTH, "summary": "rivers"}},
        ],
        "relationships": [{"id": "3", "type": "child", "source": "1", "target": "2", "properties": {}}],
    }  # fmt: skip
    path = write(tmp_path / "graph.json", json.dumps(graph))
    corpus = read_corpus(path)
    # chunks are parts of the documents
    assert list(corpus.documents.values()) == [Document(id="1", text=RHINE, labels=META)]
    with pytest.raises(SampleError, match="knowledge graph"):
        read_questions(path, corpus)


def test_a_test_set_object_of_ragas_is_read():
    ragas = pytest.importorskip("ragas.testset.synthesizers.testset_schema", reason="ragas is not installed")
    set_ = ragas.Testset.from_list([dict(RAGAS)])
    assert read_questions(set_, CORPUS).questions == read_questions([RAGAS], CORPUS).questions


def test_goldens_of_deepeval_are_read():
    deepeval = pytest.importorskip("deepeval.dataset.golden", reason="deepeval is not installed")
    golden = deepeval.Golden(input=QUESTION, expected_output=FREE, context=[RHINE], source_file="rhine.md")
    (candidate,) = read_questions([golden], CORPUS).candidates
    assert quoted(candidate) == [RHINE]


def test_a_labelled_dataset_of_llama_index_is_read(tmp_path):
    llama = pytest.importorskip("llama_index.core.llama_dataset", reason="this release has no datasets")
    example = llama.LabelledRagDataExample(query=QUESTION, reference_contexts=[RHINE], reference_answer=FREE)
    dataset = llama.LabelledRagDataset(examples=[example])
    dataset.save_json(str(tmp_path / "set.json"))
    for source in (dataset, tmp_path / "set.json"):
        (candidate,) = read_questions(source, CORPUS).candidates
        assert quoted(candidate) == [RHINE]
