"""The recipe that runs `study retriever` on TeleQuAD, on a small file of the same form."""

import json
from math import log

import pytest

from examples.telequad import Search, by_bm25, by_count, main, read

PARAGRAPHS = [
    ("The tower has a bell and a clock.", [("q1", "Which tower has a bell?", "The tower")]),
    ("The garden has twenty plots and a well.", [("q2", "How many plots has the garden?", "twenty")]),
    (
        "The the the library lends books, has a hall and is closed on Monday.",
        [("q3", "What does it lend?", "")],
    ),
]


@pytest.fixture
def data(tmp_path):
    paragraphs = [
        {
            "context": text,
            "qas": [
                {"id": name, "question": asked, "answers": [{"text": answer}] if answer else []}
                for name, asked, answer in qas
            ],
        }
        for text, qas in PARAGRAPHS
    ]
    path = tmp_path / "telequad.json"
    path.write_text(json.dumps({"data": [{"docid": "d", "paragraphs": paragraphs}]}))
    return path


def test_each_question_with_an_answer_knows_its_passage(data):
    passages, questions = read(data)
    assert [(each.id, passages[each.passage]) for each in questions] == [
        ("q1", PARAGRAPHS[0][0]),
        ("q2", PARAGRAPHS[1][0]),
    ]


def test_bm25_weighs_a_rare_word_more_than_words_that_all_have():
    passages = {"p1": "bell clock", "p2": "bell well", "p3": "bell bell"}
    search = Search(passages, by_bm25)
    # every length is the mean, so the norm is k1 = 1.2; clock is in one of three, bell in all
    assert search.weights["clock"]["p1"] == pytest.approx(log(1 + 2.5 / 1.5))
    assert search.weights["bell"]["p3"] == pytest.approx(log(1 + 0.5 / 3.5) * 2 * 2.2 / 3.2)
    assert search.best("clock bell", 2) == ["p1", "p3"]
    assert Search(passages, by_count).best("bell", 3) == ["p1", "p2", "p3"]


def test_the_recipe_compares_the_retrievers(data, tmp_path, capsys, monkeypatch):
    pytest.importorskip("scipy", reason="needs the extra study: pip install 'ragmetrics-core[study]'")
    pytest.importorskip("typer", reason="needs the extra cli: pip install 'ragmetrics-core[cli]'")
    from ragmetrics_core.runs import read_samples
    from ragmetrics_core.samples import Sample
    from ragmetrics_core.study import first_hits, study_retrieval

    main([str(data), str(tmp_path / "out"), "--questions", "400"])
    assert capsys.readouterr().out == "2 of 2 questions on 3 passages\n"
    read_files = {name: list(read_samples(tmp_path / "out" / f"{name}.jsonl")) for name in ("words", "bm25")}
    assert all(isinstance(row, Sample) for rows in read_files.values() for row in rows)
    study = study_retrieval([first_hits(name, rows) for name, rows in read_files.items()], ks=[1, 3])
    shares = {(each.retriever, each.k): each.share.value for each in study.accuracies}
    assert (shares["bm25", 1], shares["bm25", 3]) == (1.0, 1.0)
