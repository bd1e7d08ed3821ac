"""Replies to a wave: those that are none, come twice, or belong to another run harm nothing."""

import json

import pytest

from ragmetrics_core import Run
from ragmetrics_core.errors import ConfigError, RecordError
from ragmetrics_core.protocol import Completion, Usage
from ragmetrics_core.runs import import_replies
from ragmetrics_core.runs.lock import FolderLock
from tests.runs.by_file import STATEMENTS, Post, batch_line, failed_line, plain_line, scripted, write


def test_a_failed_request_stays_open_and_the_first_reason_is_told(tmp_path):
    post = Post(tmp_path, metrics="faithfulness")
    one, two, three = post.export()
    found = post.take(failed_line(one, "too long"), failed_line(two, "expired"), scripted(three))
    assert found == (1, 2, f"{post.replies}, line 1: too long (500)", 0, 2)
    open_now = {each["custom_id"] for each in post.export()}
    assert {one["custom_id"], two["custom_id"]} <= open_now
    assert three["custom_id"] not in open_now


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ({"response": None, "error": {"code": "batch_expired", "message": "It expired."}}, "It expired."),
        ({"response": None, "error": {"code": "batch_expired"}}, "batch_expired"),
        ({"error": "cancelled"}, "cancelled"),
        ({}, "it has neither a reply nor an error"),
        ({"response": {"status_code": 429, "body": {"error": {"message": "Slowly."}}}}, "Slowly. (429)"),
        ({"response": {"status_code": 500, "body": None}}, "it has neither a reply nor an error (500)"),
        ({"response": {"status_code": 200, "body": {"choices": []}}}, "an empty list of choices"),
        ({"response": {"status_code": 200, "body": {}}}, "answered without choices"),
        ({"reply": 3}, "its reply is no text"),
        ({"reply": None}, "its reply is no text"),
    ],
)
def test_whatever_is_no_reply_fails_with_its_reason_and_can_be_answered_later(post, answer, reason):
    (request,) = post.export()
    found = post.take({"custom_id": request["custom_id"], **answer})
    assert (found.replies, found.failed, found.unknown, found.waiting) == (0, 1, 0, 1)
    assert reason in found.reason
    assert post.take(scripted(request)) == (1, 0, None, 0, 0)


def test_a_reply_that_was_cut_by_the_length_limit_is_no_reply_to_build_on(post):
    cut = Completion(text=STATEMENTS[:-2], usage=Usage(1, 1), finish_reason="length")
    for _ in range(2):  # it is asked for once more
        (request,) = post.export()
        post.take(batch_line(request, cut))
    post.export()
    assert post.status == "parse_error"


def test_half_a_character_in_a_reply_harms_neither_journal_nor_record(post):
    (request,) = post.export()
    post.take(plain_line(request, '{"statements": ["Half \ud83d a character."], "declined": false}'))
    for _ in range(2):  # the statements once more, then the verdicts
        post.take(*map(scripted, post.export()))
    post.export()
    assert post.status == "ok"
    assert list(Run.load(post.out).audit()) == []


def test_the_same_file_again_changes_nothing(post):
    requests = post.export()
    assert post.take(*map(scripted, requests)).replies == 1
    assert post.take(*map(scripted, requests)) == (0, 0, None, 1, 0)
    assert [each["body"]["prompt"] for each in post.export()] == ["verdicts"]


def test_of_two_replies_to_one_request_the_first_counts(post):
    (request,) = post.export()
    found = post.take(
        plain_line(request, STATEMENTS), plain_line(request, '{"statements": [], "declined": false}')
    )
    assert (found.replies, found.unknown, found.waiting) == (1, 1, 0)
    assert [each["body"]["prompt"] for each in post.export()] == ["verdicts"]


def test_a_bad_line_is_named_and_the_replies_before_it_are_safe(tmp_path):
    post = Post(tmp_path, metrics="faithfulness")
    requests = post.export()
    lines = [json.dumps(scripted(each)) for each in requests]
    post.replies.write_text("\n".join([lines[0], lines[1][:20], lines[2]]))
    with pytest.raises(ConfigError, match=r"replies\.jsonl, line 2 is not JSON"):
        import_replies(post.out, post.replies)
    assert requests[0]["custom_id"] not in {each["custom_id"] for each in post.export()}


def test_a_line_without_an_id_is_no_reply(post):
    post.export()
    for line in ("[]", "3", '{"reply": "x"}', '{"custom_id": 3, "reply": "x"}'):
        post.replies.write_text(line)
        with pytest.raises(ConfigError, match="line 1 has no custom_id: it is not a reply to a wave"):
            import_replies(post.out, post.replies)


def test_blank_lines_and_a_byte_order_mark_do_no_harm(post):
    (request,) = post.export()
    post.replies.write_bytes(b"\xef\xbb\xbf" + json.dumps(scripted(request)).encode() + b"\n\n  \n")
    assert import_replies(post.out, post.replies).replies == 1


def test_replies_that_are_not_there_are_named(post):
    post.export()
    with pytest.raises(ConfigError, match=r"replies\.jsonl cannot be read: No such file"):
        import_replies(post.out, post.replies)


def test_without_an_open_wave_there_is_nothing_to_import(tmp_path, post):
    with pytest.raises(ConfigError, match="has no open wave: ragmetrics batch export writes one"):
        import_replies(tmp_path, write(post.replies, []))
    while requests := post.export():
        post.take(*map(scripted, requests))
    with pytest.raises(ConfigError, match="has no open wave"):
        post.take()


def test_a_damaged_list_of_open_requests_is_written_again_by_the_next_export(post):
    (request,) = post.export()
    (post.out / "waiting.jsonl").write_text('{"addr": 1}\n')
    with pytest.raises(ConfigError, match="is damaged: ragmetrics batch export writes it again"):
        post.take(scripted(request))
    post.export()
    assert post.take(scripted(request)).replies == 1


def test_replies_are_not_taken_while_somebody_writes_to_the_run(post):
    (request,) = post.export()
    with FolderLock(post.out), pytest.raises(ConfigError, match="writes to the run"):
        post.take(scripted(request))
    assert post.take(scripted(request)).replies == 1


def test_a_journal_that_cannot_be_read_keeps_the_requests_open(post):
    (request,) = post.export()
    journal = post.out / "journal.sqlite"
    whole = journal.read_bytes()
    journal.write_bytes(b"no database at all, but some text of a fair length" * 20)
    with pytest.raises(RecordError):
        post.take(scripted(request))
    journal.write_bytes(whole)
    assert post.take(scripted(request)).replies == 1
