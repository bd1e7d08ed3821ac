"""The loaders of files: what cannot be read is said in an error of ours."""

import gzip
import importlib
import importlib.util
import io
import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
from pyarrow import parquet

from ragmetrics_core import Sample
from ragmetrics_core.boundary.redaction import redacted_reply
from ragmetrics_core.errors import ConfigError, PromptError, RecordError, SampleError
from ragmetrics_core.journal import Journal
from ragmetrics_core.parsers import VerdictList
from ragmetrics_core.probe import (
    FitnessCard,
    KnownAnswers,
    PairedGain,
    PeopleCard,
    Ranking,
    Replies,
    ShareOf,
    card_tables,
    cards_json,
    chosen_by_cards,
    compared_tables,
    read_cards,
)
from ragmetrics_core.prompts import VERDICTS, load_file, read_folder
from ragmetrics_core.report.study_files import json_text, markdown_text
from ragmetrics_core.runs import BadRow, import_replies, read_samples
from ragmetrics_core.runs.prices import read_prices
from ragmetrics_core.study import Estimate, read_annotations, read_labels
from ragmetrics_core.testing import ScriptedJudge
from tests.fuzz.place import OTHER, SAMPLE, file_with, folder, run_with
from tests.fuzz.target import Target

__all__ = ["TARGETS"]

# no part of what the tests need
polars: Any = importlib.import_module("polars") if importlib.util.find_spec("polars") else None

DATA = Path(__file__).parents[2] / "examples" / "data"
PROMPTS = Path(__file__).parents[2] / "examples" / "prompts"
COLUMNS = [
    {"user_input": "Where?", "response": "In Ulm.", "retrieved_contexts": ["Ulm."], "reference": "Ulm."},
    {"question": "Where?", "ground_truths": ["Ulm.", "In Ulm."], "contexts": "['Ulm.', \"It's on it\"]"},
    {"actual_output": "Ulm", "expected_output": "Ulm", "retrieval_context": ["x"], "context": ["y"], "n": 7},
    {"inputs": {"question": "Where?"}, "outputs": {"answer": "Ulm"}, "reference_outputs": {"answer": "Ulm"}},
    {"query": "Where?", "documents": [{"content": "Ulm", "meta": {"a": [1, None]}}], "chat_history": []},
    {"question": "a", "history": [{"role": "user", "content": "b"}], "labels": '{"a": 1}', "id": 3},
]


# -- samples


def samples(suffix: str) -> Callable[[bytes], None]:
    """Reads a file of samples to its end; a bad row says why it is one."""

    def run(data: bytes) -> None:
        for found in read_samples(file_with(f"samples{suffix}", data)):
            checked(found)

    return run


def checked(found: Sample | BadRow) -> None:
    """A row that is no sample says why, and a sample can be written and read."""
    if isinstance(found, BadRow):
        assert found.where
        assert found.message
    else:
        assert Sample.model_validate_json(found.model_dump_json()) == found


def frames(data: bytes) -> None:
    """A data frame of whatever JSON rows there are."""
    try:
        frame = pd.DataFrame(json.loads(data))
    except (ValueError, TypeError, RecursionError, AttributeError, OverflowError):
        return  # pandas makes no frame of it
    for found in read_samples(frame):
        checked(found)


def rows(data: bytes) -> None:
    """One row, as another library would hand it over: from a format with types, and from one with texts."""
    with suppress(ValueError, RecursionError):
        row = json.loads(data)
        if isinstance(row, dict):
            for textual in (False, True):
                with suppress(SampleError):
                    checked(Sample.from_mapping(row, textual=textual))


def arrow(data: bytes) -> None:
    """A table that pyarrow makes of bytes in its own format: its rows are read or refused."""
    try:
        table = pa.ipc.open_stream(data).read_all()
        table.validate(full=True)
    except (pa.ArrowException, OSError, OverflowError, UnicodeDecodeError):
        return  # pyarrow makes no table of it
    for found in read_samples(table):
        checked(found)


def polars_frames(data: bytes) -> None:
    """A data frame of polars of whatever JSON rows there are; without polars, what is read as one."""
    try:
        found = json.loads(data)
        frame: Any = polars.DataFrame(found) if polars is not None else _Rows(found)
    except Exception:
        return
    for row in read_samples(frame):
        checked(row)


class _Rows:
    """What a frame of polars is known by, over JSON."""

    def __init__(self, rows: object) -> None:
        if not isinstance(rows, list) or not all(isinstance(each, dict) for each in rows):
            raise TypeError(rows)
        self._rows = rows

    def iter_rows(self, *, named: bool = False) -> Iterator[Mapping[str, object]]:
        assert named
        return iter(self._rows)


def packed(suffix: str) -> Callable[[bytes], None]:
    """Reads a packed file; half of the inputs are packed for it, so that the search gets past its header."""

    def run(data: bytes) -> None:
        content = data if data[:2] == b"\x1f\x8b" else gzip.compress(data, 1, mtime=0)
        for found in read_samples(file_with(f"samples{suffix}.gz", content)):
            checked(found)

    return run


def packed_files(texts: Callable[[], Iterator[bytes]]) -> Callable[[], Iterator[bytes]]:
    """The texts, and each of them packed."""

    def seeds() -> Iterator[bytes]:
        for text in texts():
            yield text
            yield gzip.compress(text, mtime=0)
            yield gzip.compress(text[:50], mtime=0) + gzip.compress(text[50:], mtime=0)

    return seeds


def parquet_files() -> Iterator[bytes]:
    for rows in ([SAMPLE, OTHER], COLUMNS[:1], COLUMNS[2:3], [{"question": None, "n": 1}]):
        for compression in ("none", "zstd"):
            sink = io.BytesIO()
            parquet.write_table(pa.Table.from_pylist(list(rows)), sink, compression=compression)
            yield sink.getvalue()


def arrow_streams() -> Iterator[bytes]:
    for rows in ([SAMPLE, OTHER], COLUMNS[:1], COLUMNS[2:3], [{"question": None, "n": 1}]):
        table = pa.Table.from_pylist(list(rows))
        sink = io.BytesIO()
        with pa.ipc.new_stream(sink, table.schema) as writer:
            writer.write_table(table)
        yield sink.getvalue()


def jsonl() -> Iterator[bytes]:
    yield dumped(SAMPLE) + b"\n" + dumped(OTHER) + b"\n"
    yield b"\xef\xbb\xbf" + b"\n".join(map(dumped, COLUMNS))


def tables() -> Iterator[bytes]:
    yield b'id,question,contexts,answer,right\n1,Where?,"[""Ulm."", ""x""]",Ulm,true\n2,"a ""b""\nc",,,0.5\n'
    yield b'inputs.question,outputs.answer,labels\r\nWhere?,Ulm,"{""a"": 1}"\r\n'


# -- prompts, prices, labels, annotations


def prompts(data: bytes) -> None:
    """A prompt of one's own, which is rendered when its variables are known."""
    prompt = load_file(file_with("own.v1.md", data), answer=VerdictList)
    messages = prompt.render(dict.fromkeys(prompt.variables, "{{ question }} </answer>"))
    assert len(messages) == 2
    read_folder(folder())


def labels(suffix: str) -> Callable[[bytes], object]:
    """Labels of people."""
    return lambda data: read_labels(file_with(f"labels{suffix}", data))


def replies(data: bytes) -> None:
    """Replies to a wave that is open."""
    place = run_with("waiting.jsonl", dumped({"address": "ab" * 16, "judge": "a"}) + b"\n")
    import_replies(place, file_with("replies.jsonl", data))


def cards(data: bytes) -> None:
    """A judge's fitness card, and the tables of it."""
    card = FitnessCard.read(file_with("card.json", data))
    assert FitnessCard.model_validate_json(card.model_dump_json()) == card
    tables = list(card_tables(card))
    assert json_text(tables)
    assert markdown_text(tables)


def people(data: bytes) -> None:
    """Cards on people's labels, what they choose, and the tables of them."""
    read = read_cards(file_with("people.json", data))
    chosen = chosen_by_cards("faithfulness", judge=SILENT, cards=read)
    assert [metric.name for metric in chosen.metrics] == ["faithfulness"]
    assert json_text(list(compared_tables([card for card in read if card.rankings])))


def redactions(data: bytes) -> None:
    """A reply from which a name is taken out: it is gone, also where escapes hid it."""
    text = redacted_reply(lambda text: text.replace("Ulm", "[x]"), data.decode("utf-8", "surrogateescape"))
    assert "Ulm" not in text
    with suppress(ValueError, RecursionError):
        assert "Ulm" not in json.dumps(json.loads(text))


def journal(data: bytes) -> None:
    """A journal that is damaged: it says so, or gives what it holds."""
    with Journal(file_with("journal.sqlite", data)) as opened:
        opened.statistics()


def journal_file() -> list[bytes]:
    path = folder() / "seed.sqlite"
    if not path.exists():
        with Journal(path) as opened:
            opened.put("ab" * 16, b'{"kind":"reply","text":"a","usage":[1,2]}', identity="a")
        with closing(sqlite3.connect(path)) as database, database:
            # inputs that are made of it must not depend on the time of day
            database.execute("UPDATE calls SET created = 1767225600, used = 1767225600")
    return [path.read_bytes()]


def dumped(value: object) -> bytes:
    return json.dumps(value).encode()


def always(*values: object) -> Callable[[], Iterable[bytes]]:
    """JSON texts to begin with."""
    return lambda: map(dumped, values)


def in_folder(place: Path, pattern: str) -> Callable[[], list[bytes]]:
    """The beginnings of files to begin with."""
    return lambda: [path.read_bytes()[:2000] for path in sorted(place.glob(pattern))]


ANNOTATIONS: Mapping[str, object] = {
    "format": "ragmetrics-annotations",
    "version": 1,
    "annotator": "Ada",
    "seed": 0,
    "items": [
        {
            "item": "0" * 16,
            "rating": 4,
            "note": "",
            "metrics": [{"metric": "faithfulness/strict.1", "statements": [{"number": 1}], "added": ["x"]}],
        }
    ],
}
HALF = ShareOf.of(1, 2, otherwise="")
REPLIES = Replies(
    read=HALF, by_prompt={"verdicts.v2": HALF}, rules={"json": 2}, asked_again=1, cut=0, statuses={"ok": 1}
)
ANSWERS = KnownAnswers(
    answered=HALF, accuracy=HALF, statements=HALF, chunks=ShareOf.of(0, 0, otherwise="no chunk"),
    precision=HALF, recall=HALF, by_kind={"negation": HALF}, by_language={"en": HALF},
    wrong=("lighthouse statement 2",),
)  # fmt: skip
FITNESS = FitnessCard(judge="a", versions={"b": "1"}, corpus="c", replies=REPLIES, known_answers=ANSWERS)
SILENT = ScriptedJudge({}, identity="a")
USUAL = PeopleCard(
    judge="a", metric="faithfulness/strict.1", prompts={"verdicts.v2": VERDICTS.digest}, question="faithful",
    set_name="b", set_digest="c", label="d", kind="truth", n=2, sources=2, source="e", dropped={},
    statuses={"ok": 2}, rankings=(Ranking(name="f", n=2, area=Estimate(0.5)),), replies=REPLIES,
)  # fmt: skip
OVER = PairedGain(over=USUAL.metric, prompts=USUAL.prompts, scored=2, n=2, gain=Estimate(0.3, 0.1, 0.5))
SHORT = USUAL.model_copy(update={"metric": "faithfulness/strict.1(per_call=1)", "gains": (OVER,)})
BODY = {
    "id": "x", "model": "a", "usage": {"prompt_tokens": 3, "completion_tokens": 4},
    "choices": [{"message": {"content": "Yes."}, "finish_reason": "stop"}],
}  # fmt: skip
WAVE = {"custom_id": "ab" * 16, "response": {"status_code": 200, "body": BODY}}
TARGETS = [
    Target("samples.jsonl", samples(".jsonl"), (SampleError,), jsonl),
    Target("samples.json", samples(".json"), (SampleError,), always([SAMPLE], {"samples": [OTHER]}, COLUMNS)),
    Target("samples.csv", samples(".csv"), (SampleError,), tables),
    Target("samples.jsonl.gz", packed(".jsonl"), (SampleError,), packed_files(jsonl)),
    Target("samples.csv.gz", packed(".csv"), (SampleError,), packed_files(tables)),
    Target("samples.parquet", samples(".parquet"), (SampleError,), parquet_files, 12_000),
    Target("samples.arrow", arrow, (SampleError,), arrow_streams, 8_000),
    Target(
        "samples.polars", polars_frames, (SampleError,), always([SAMPLE, OTHER], COLUMNS[:1], COLUMNS[3:])
    ),
    Target("samples.frame", frames, (SampleError,), always([SAMPLE, OTHER], COLUMNS[:1], COLUMNS)),
    Target("samples.row", rows, (), always(SAMPLE, OTHER, *COLUMNS)),
    Target("prompt", prompts, (PromptError,), in_folder(PROMPTS, "**/*.md")),
    Target(
        "prices", lambda data: read_prices(file_with("prices.json", data)), (ConfigError,),
        always({"a": {"prompt": 0.4, "completion": 1.6}}),
    ),
    Target(
        "labels.csv", labels(".csv"), (ConfigError,),
        lambda: [b"sample_id,annotator,label,value,metric,statement\nq1,Ada,right,yes,,\nq1,Bo,,4,a,1\n"],
    ),
    Target(
        "labels.jsonl", labels(".jsonl"), (ConfigError,),
        always({"id": "q1", "by": "Ada", "value": True, "statement": 2, "metric": "faithfulness"}),
    ),
    Target(
        "annotations", lambda data: read_annotations(file_with("annotations.json", data)), (ConfigError,),
        always(ANNOTATIONS),
    ),
    Target(
        "wave.replies", replies, (ConfigError, RecordError),
        lambda: [dumped(WAVE) + b"\n" + dumped({"custom_id": "ab" * 16, "reply": "Yes."}) + b"\n"],
    ),
    Target("card", cards, (RecordError,), lambda: [FITNESS.model_dump_json().encode()], 6_000),
    Target("people", people, (RecordError,), lambda: [cards_json([USUAL, SHORT]).encode()], 6_000),
    Target(
        "redaction", redactions, (),
        lambda: [b'{"reason": "\\u0055lm said \\"Ulm\\""}', b'Ulm \\u0055lm "Ulm', b'```\n["\\\\Ulm"]\n```'],
    ),
    Target("journal.file", journal, (RecordError,), journal_file, 60_000),
]  # fmt: skip
