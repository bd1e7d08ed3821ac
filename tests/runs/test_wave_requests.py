"""The requests of a wave: lines of a batch interface that a person can read too."""

import pytest

from ragmetrics_core import evaluate
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.models import OpenAIJudge
from ragmetrics_core.runs import export_wave
from ragmetrics_core.testing import ScriptedJudge
from tests.runs.by_file import BOTH, SAMPLE, ByFile, Post, requests_in, scripted


def test_a_request_is_a_line_of_the_batch_interface(tmp_path):
    pytest.importorskip("aiohttp", reason="needs the extra openai: pip install 'ragmetrics-core[openai]'")
    judge = OpenAIJudge("small", api_key="none", seed=5, max_tokens=99)
    post = Post(tmp_path, [SAMPLE], [judge], metrics="faithfulness", full_repeats=2)
    asked = ScriptedJudge(BOTH)
    evaluate([SAMPLE], metrics="faithfulness", judge=asked)
    messages = [message._asdict() for message in asked.asked[0].messages]

    requests = post.export()

    assert len({each["custom_id"] for each in requests}) == 2
    for request, seed in zip(requests, (5, 1005), strict=True):  # each repetition has its own 1000 draws
        body = {"model": "small", "messages": messages, "temperature": 0.0, "max_tokens": 99, "seed": seed}
        assert request == {
            "custom_id": request["custom_id"],
            "method": "POST",
            "url": "/v1/chat/completions",
            "body": body,
        }


def test_a_judge_that_has_no_form_of_its_own_gets_the_bare_messages(tmp_path):
    post = Post(tmp_path, [SAMPLE], [ScriptedJudge({}, identity="a person")], metrics="faithfulness")
    (request,) = post.export()
    assert set(request["body"]) == {"model", "messages"}
    assert request["body"]["model"] == "a person"
    assert SAMPLE["answer"] in request["body"]["messages"][-1]["content"]


def test_a_request_keeps_its_id_from_wave_to_wave(post):
    assert [each["custom_id"] for each in post.export()] == [each["custom_id"] for each in post.export()]


def test_requests_are_written_as_text_that_a_person_can_read(tmp_path):
    judge = ScriptedJudge({}, identity="a person")
    Post(tmp_path, [{**SAMPLE, "answer": "Zürich \U0001f3bb"}], [judge]).export()
    assert "Zürich \U0001f3bb" in (tmp_path / "wave.jsonl").read_text(encoding="utf-8")


def test_a_wave_that_cannot_be_made_leaves_the_last_one_in_its_place(post):
    before = post.export()
    with pytest.raises(ConfigError, match="holds another run"):
        export_wave([SAMPLE], post.requests, out=post.out, metrics="faithfulness", judge=ByFile("other"))

    def broken():
        yield SAMPLE
        raise OSError("the disk went away")

    with pytest.raises(OSError, match="the disk went away"):
        export_wave(broken(), post.requests, out=post.out, **post.arguments)
    assert requests_in(post.requests) == before
    assert sorted(path.name for path in post.requests.parent.iterdir()) == ["run", "wave.jsonl"]
    assert post.take(scripted(before[0])).replies == 1


def test_a_file_that_cannot_be_written_is_named(tmp_path, post):
    post.requests = tmp_path / "missing" / "wave.jsonl"
    with pytest.raises(ConfigError, match=r"wave\.jsonl cannot be written: No such file"):
        post.export()
