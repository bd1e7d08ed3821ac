"""An audit and a sample's page say how much of a request is accounted for, and what nobody knows of it."""

from ragmetrics_core import Sample
from ragmetrics_core.report._proof_page import SamplePage
from ragmetrics_core.runs.shown_contexts import ShownContexts
from ragmetrics_core.samples import Stage, StageChunk, UnaccountedText

CHUNK = "The tower opened in 1889."
WEB = "It was painted in 2022."


def sample(name: str, shown: Stage, *before: Stage) -> Sample:
    return Sample(id=name, question="When?", contexts=(CHUNK,), answer="Then.", stages=(*before, shown))


PART = sample(
    "web",
    Stage(
        name="shown",
        component="llm",
        chunks=(StageChunk(text=CHUNK, rank=1, shown="verified", message=1, start=0, end=25),),
        words=10,
        accounted=5,
        unaccounted=(UnaccountedText(text=WEB, message=1, start=26, end=49, component="web"),),
    ),
    Stage(name="derived", component="drafter", chunks=(StageChunk(text="In 1889.", rank=1),)),
)
UNSEEN = sample("raw", Stage(name="shown", chunks=(StageChunk(text=CHUNK, rank=1, shown="unseen"),)))


def test_an_audit_counts_words_and_names_the_samples_that_are_not_known():
    # 5 of 10 words of the one request that was seen
    first, words, *named = ShownContexts.of([PART, UNSEEN]).lines()
    assert first.endswith("1 verified, 1 unseen")
    assert words == "5 of 10 words of the requests are accounted for"
    assert [line.partition(":")[0] for line in named] == ["web", "raw"]


def test_a_page_shows_the_draft_the_words_and_the_option_that_decides():
    derived, shown = SamplePage.of_sample(PART).stages
    assert derived.what == "“In 1889.”, written by drafter from what it was shown"
    assert shown.what.endswith("5 of 10 words of the request are accounted for")
    (text,) = shown.unaccounted
    assert text.startswith(f"“{WEB}” by web, message 1; evidence=['web'] or not_evidence=['web']")


def test_a_page_does_not_say_that_chunks_of_an_unseen_request_were_shown():
    (shown,) = SamplePage.of_sample(UNSEEN).stages
    assert "unknown which were shown" in shown.what
