"""A corpus has every document that can be read, and says which cannot."""

import json

import pytest

from ragmetrics_core.errors import ConfigError, SampleError
from ragmetrics_core.questions import Document, read_corpus

TEXT = "The limit is 3.5 W.\n"


@pytest.fixture
def folder(tmp_path):
    def write(**files):
        for name, content in files.items():
            path = tmp_path / name.replace("__", "/").replace("_", ".")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return tmp_path

    return write


def test_a_folder_is_read_at_any_depth_with_its_first_folder_as_a_label(folder):
    seven = '{"id": 7, "text": "Seven.", "year": 2019, "tags": ["x"], "meta": {"ok": true}}'
    rows = f'{seven}\n\n{{"body": "No id."}}\n'
    source = folder(
        a_txt=TEXT, de__b_md="# B", de__deep__rows_jsonl=rows, **{"_hidden__c_txt": TEXT, "_git_txt": TEXT}
    )
    corpus = read_corpus(source)
    labels = {id: document.labels for id, document in corpus.documents.items()}
    (unnamed,) = (id for id in labels if id.startswith("d-"))
    assert labels == {
        "a.txt": {},
        "de/b.md": {"folder": "de"},
        "7": {"folder": "de", "year": 2019.0, "ok": True},
        unnamed: {"folder": "de"},
    }
    assert corpus.labels == {"folder": {"de"}, "year": {2019.0}, "ok": {True}}
    assert corpus.skipped == ()
    assert read_corpus(str(source)).digest == corpus.digest


@pytest.mark.parametrize(
    "content",
    [
        "Grüße — “ja” 5 €\nzwei\n".encode(),
        "\ufeffGrüße — “ja” 5 €\r\nzwei\r\n".encode(),
        "Grüße — “ja” 5 €\rzwei\r".encode("utf-16"),
        "Grüße — “ja” 5 €\nzwei\n".encode("cp1252"),
    ],
    ids=["UTF-8", "mark and CRLF", "UTF-16", "Windows-1252"],
)
def test_a_text_file_is_read_in_its_encoding(folder, content):
    corpus = read_corpus(folder(a_txt=content) / "a.txt")
    assert corpus.documents["a.txt"].text == "Grüße — “ja” 5 €\nzwei\n"


OTHER_ENCODINGS = [
    ("Привет, мир", "cp1251"),
    ("東京都の人口", "gbk"),
    ("東京都の人口。", "shift-jis"),
    ("Zażółć gęślą", "cp1250"),
]


@pytest.mark.parametrize(("text", "encoding"), OTHER_ENCODINGS)
def test_a_file_in_another_encoding_is_left_out_and_never_guessed(folder, text, encoding):
    corpus = read_corpus(folder(a_txt=text.encode(encoding), b_txt=TEXT))
    assert list(corpus.documents) == ["b.txt"]
    assert corpus.skipped == (("a.txt", "not text, or not in UTF-8"),)


def test_what_is_not_a_document_is_left_out_with_its_reason(folder):
    rows = '{"text": " "}\n{"title": "only"}\n{"text": "\\ud800"}\n{"text": "Good."}\n'
    corpus = read_corpus(
        folder(a_pdf=b"%PDF-1.7\n\xff\xfe\0", b_html="<p>", c_txt=" \n", d_jsonl=rows, e_jsonl="")
    )
    assert [document.text for document in corpus.documents.values()] == ["Good."]
    assert dict(corpus.skipped) == {
        "a.pdf": "not text, or not in UTF-8",
        "b.html": "not a .txt, .md or .jsonl file",
        "c.txt": "empty",
        "d.jsonl, line 1": "empty",
        "d.jsonl, line 2": "no text under any of text, page_content, content, contents, body",
        "d.jsonl, line 3": "the text is not valid Unicode: unpaired surrogate at 0",
        "e.jsonl": "empty",
    }


FIELDS = {"country": "de", "page": 3}


def of_langchain():
    documents = pytest.importorskip("langchain_core.documents", reason="needs the extra langchain")
    return [documents.Document(page_content=TEXT, id="x", metadata={**FIELDS, "boxes": [1, 2]})]


def of_haystack():
    haystack = pytest.importorskip("haystack", reason="needs the extra haystack")
    return [haystack.Document(content=TEXT, id="x", meta=FIELDS)]


def of_llama_index():
    schema = pytest.importorskip("llama_index.core.schema", reason="needs the extra llama-index")
    return schema.Document(text=TEXT, id_="x", metadata=FIELDS)


def of_a_node():
    schema = pytest.importorskip("llama_index.core.schema", reason="needs the extra llama-index")
    return [schema.NodeWithScore(node=schema.TextNode(text=TEXT, id_="x", metadata=FIELDS), score=0.5)]


def of_a_data_frame():
    pandas = pytest.importorskip("pandas", reason="reads data frames")
    return pandas.DataFrame([{"doc_id": "x", "text": TEXT, **FIELDS}])


@pytest.mark.parametrize(
    "source",
    [
        of_langchain,
        lambda: [{"page_content": TEXT, "id": "x", "metadata": FIELDS}],
        of_haystack,
        lambda: [of_llama_index()],
        of_llama_index,
        of_a_node,
        lambda: [{"_id": "x", "body": TEXT, **FIELDS}],
        of_a_data_frame,
        lambda: iter([Document(id="x", text=TEXT, labels={"country": "de", "page": 3.0})] * 2),
    ],
    ids=[
        "LangChain",
        "LangChain's JSON",
        "Haystack",
        "LlamaIndex",
        "one",
        "node",
        "row",
        "data frame",
        "Document",
    ],
)
def test_documents_of_frameworks_have_text_id_and_labels(source):
    (document,) = read_corpus(source()).documents.values()
    assert document == Document(id="x", text=TEXT, labels={"country": "de", "page": 3.0})


def test_documents_without_an_id_are_told_apart_by_text_and_labels():
    rows = [{"text": TEXT, "country": country} for country in ("de", "at", "de")]
    corpus = read_corpus(rows)
    assert [document.labels["country"] for document in corpus.documents.values()] == ["de", "at"]
    assert list(read_corpus(rows[::-1]).documents) == list(corpus.documents)


def test_a_corpus_is_read_back_from_its_documents(folder):
    corpus = read_corpus(
        [{"id": "a", "text": TEXT, "n": 1, "ok": True, "folder": "x"}, {"id": "b", "text": "\r\nB"}]
    )
    lines = "".join(f"{document.model_dump_json()}\n" for document in corpus.documents.values())
    again = read_corpus(folder(corpus_jsonl=lines) / "corpus.jsonl")
    assert again.documents == corpus.documents
    assert again.digest == corpus.digest


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (
            [{"id": 1, "text": "A"}, {"id": "1", "text": "B"}],
            "document 2: the id '1' is that of document 1, which has another text",
        ),
        ([{"id": 1, "text": "A", "n": 1}, {"id": 1, "text": "A", "n": 2}], "which has another labels"),
        ([{"text": "A", "content": "B"}], "texts that differ under 'text' and 'content'"),
        (["A text"], 'document 1 is a text; write it as {"id": "...", "text": "..."}'),
        ([], "the corpus has no document with a text"),
        ([{"text": ""}], "no document with a text (document 1: empty)"),
        ("absent", "'absent' does not exist"),
        (__file__, "is not a corpus; give a folder, or a .txt, .md, .jsonl, .json, .csv or .parquet file"),
    ],
)
def test_what_is_ambiguous_is_refused_with_its_place(rows, message):
    with pytest.raises(SampleError) as error:
        read_corpus(rows)
    assert message in str(error.value)


def test_a_broken_row_is_refused_with_its_line(folder):
    source = folder(a_jsonl='{"text": "A"}\n{"text": \n')
    with pytest.raises(ConfigError, match=r"a\.jsonl, line 2: not valid JSON"):
        read_corpus(source)


def test_nothing_private_is_in_a_redacted_corpus():
    rows = [
        {"id": "Ann", "text": "Ann said.", "by": "Ann"},
        {"id": "Ann", "text": " "},
        {"id": "b", "text": "B"},
    ]
    corpus = read_corpus(rows, redact=lambda text: text.replace("Ann", "[name]"))
    assert "Ann" not in json.dumps([document.model_dump() for document in corpus.documents.values()])
    with pytest.raises(SampleError, match=r"\[name\]") as error:
        read_corpus(
            [*rows, {"id": "Ann", "text": "Other"}], redact=lambda text: text.replace("Ann", "[name]")
        )
    assert "Ann" not in str(error.value)
