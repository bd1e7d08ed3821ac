"""The printed prompts of a paper: found by their places for texts in any layout, or refused with a reason."""

import os
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from examples.printed_prompts import JSON, LINES, PROMPTS, found_in, main
from ragmetrics_core import evaluate
from ragmetrics_core.testing import HashEmbedder, ScriptedJudge

ROOT = Path(__file__).resolve().parents[2]
SHARED = Path(os.environ.get("RAGMETRICS_SHARED") or ROOT.parent / "shared")
NAMES = {prompt.name for prompt in PROMPTS.values()}

# A made-up appendix in the layout of the paper's: one prompt in a paragraph, places in the running text.
APPENDIX = """A. How we measure

A.1. Truth (Tru)

It takes two steps, see (Doe et al., 2020) and [3]. First the model gets this prompt:

Cut the reply to the query into claims that stand alone. question: [question] answer: [answer]

Then each claim is checked, by the following words:

Compare the claims with the material. Explain, then decide (Yes/No). context: [context]
statement: [statement 1] ... statement: [statement n]

$$Tru = \\frac{|V|}{|S|} \\tag{3}$$

A.2. Aim (Aim)

We ask for questions with: Invent what was asked. answer: [answer]

The mean of $[w_1, w_2] = [0.75, 0.25]$ is reported.

A.3. Use (Use)

The words are as follows:

Copy what helps, or say "Insufficient Information". question: [question] context: [context]

A.5. Right (Rig)

The prompt is as follows:

Sort into "TP": in both, "FP": in the reply alone, "FN": left out.

question: [question],

answer: [answer],

ground truth: [ground truth answer],

Sorted claims:

"TP": [statement 1, statement 4, ...],

"FP": [statement 2, ...],

"FN": [statement 3, ...]

B. Samples

Ans Correctness: 0.926	"TP": ["A is B"], "FP": [], "FN": []
"""

SAMPLE = {
    "id": "paris",
    "question": "Where is Paris?",
    "answer": "Paris is in northern France.",
    "contexts": ["Paris lies in France. It is large."],
    "reference": "Paris lies in France.",
}
AS_LINES = {
    "paper_statements": "1. Paris is in France.\n2. Paris is in the north.\nEND",
    "paper_verdicts": "1. So it says. Verdict: Yes.\n2. It does not. Verdict: No.\n"
    "Final verdicts: 1. Yes. 2. No.",
    "paper_question": "Where is Paris?",
    "paper_sentences": "Paris lies in France.\nEND",
    "paper_facts": {"TP": ["Paris is in France."], "FP": ["Paris is in the north."], "FN": []},
}
AS_JSON = AS_LINES | {
    "paper_statements": {"statements": ["Paris is in France.", "Paris is in the north."]},
    "paper_verdicts": {
        "verdicts": [
            {"number": 1, "reason": "It says so.", "verdict": "yes"},
            {"number": 2, "reason": "It does not.", "verdict": "no"},
        ]
    },
    "paper_question": {"questions": [{"question": "Where is Paris?"}]},
}


@pytest.fixture
def paper(tmp_path):
    """Write a text to a file and return its path."""

    def write(text: str) -> str:
        path = tmp_path / "paper.txt"
        path.write_text(text, encoding="utf-8")
        return str(path)

    return write


def texts(found):
    return {name: printed.user for name, printed in found.items()}


def test_all_five_prompts_are_found_with_their_printed_words():
    found, missing = found_in(APPENDIX)
    assert missing == {}
    assert texts(found) == {
        "paper_statements": "Cut the reply to the query into claims that stand alone.\n"
        "question: {{ question }}\nanswer: {{ answer }}",
        "paper_verdicts": "Compare the claims with the material. Explain, then decide (Yes/No).\n"
        "context:\n{{ contexts }}\nstatement:\n{{ items }}",
        "paper_question": "Invent what was asked.\nanswer: {{ answer }}",
        "paper_sentences": 'Copy what helps, or say "Insufficient Information".\n'
        "question: {{ question }}\ncontext:\n{{ contexts }}",
        "paper_facts": 'Sort into "TP": in both, "FP": in the reply alone, "FN": left out.\n'
        "question: {{ question }},\nanswer: {{ answer }},\nground truth: {{ reference }},\nSorted claims:\n"
        '"TP": [statement 1, statement 4, ...],\n"FP": [statement 2, ...],\n"FN": [statement 3, ...]',
    }


@given(st.lists(st.sampled_from([" ", "  ", "\n", "\n\n", "\r\n", "\t"]), min_size=1, max_size=30))
def test_the_layout_of_the_text_does_not_matter(spaces):
    words = re.split(r"(\s+)", APPENDIX)
    words[1::2] = [spaces[place % len(spaces)] for place in range(len(words) // 2)]
    found, missing = found_in("".join(words))
    assert (texts(found), missing) == (texts(found_in(APPENDIX)[0]), {})


@pytest.mark.parametrize(
    ("before", "after", "name", "why"),
    [
        (" context: [context]\nstatement", " statement", "paper_verdicts", "without a place for [context]"),
        (
            " question: [question] context: [context]",
            "",
            "paper_sentences",
            "no prompt with places for exactly",
        ),
        ("claims that stand", "state-\nments that stand", "paper_statements", "join it in the file"),
        ("B. Samples", "Or: Guess it. answer: [answer]", "paper_question", "2 different prompts"),
        (APPENDIX[: APPENDIX.index("Cut")], "", "paper_statements", "shows where it begins"),
    ],
)
def test_a_prompt_that_is_not_whole_is_not_written_and_the_reason_is_given(
    paper, tmp_path, capsys, before, after, name, why
):
    assert before in APPENDIX
    assert main([paper(APPENDIX.replace(before, after)), str(tmp_path / "new")]) == 1
    assert {path.name.partition(".")[0] for path in (tmp_path / "new").iterdir()} == NAMES - {name}
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"{name}: not written: ")
    assert why in line


@pytest.mark.parametrize(
    ("options", "replies", "as_json"),
    [
        ([], AS_LINES, {"paper_facts"}),
        (["--json"], AS_JSON, NAMES - {"paper_sentences"}),
    ],
)
def test_the_paper_variants_ask_with_the_printed_words_and_read_the_replies(
    paper, tmp_path, options, replies, as_json
):
    assert main([paper(APPENDIX), str(tmp_path / "new"), *options]) == 0
    judge = ScriptedJudge(replies)
    metrics = ["faithfulness/paper", "answer_relevance/paper", "context_relevance/paper"]
    run = evaluate(
        [SAMPLE],
        metrics=[*metrics, "factual_correctness/paper"],
        judge=judge,
        embedder=HashEmbedder(),
        prompts=tmp_path / "new",
    )
    # 1 of 2 statements; the question itself; 1 of 2 sentences; 1 / (1 + 0.5 * (1 + 0))
    assert [mean.value for mean in run.means()] == pytest.approx([1 / 2, 1, 1 / 2, 2 / 3])
    assert not list(run.audit())
    assert {request.prompt.name for request in judge.asked} == NAMES
    assert {request.prompt.name for request in judge.asked if request.prompt.as_json} == as_json
    shown = "\n".join(request.messages[-1].content for request in judge.asked)
    assert "question: Where is Paris? answer:" not in shown
    assert "question: Where is Paris?\nanswer: Paris is in northern France.\n" in shown


def test_each_prompt_has_a_form_in_lines_and_in_json():
    assert set(LINES) == set(JSON) == NAMES


def test_a_folder_with_files_is_left_alone(paper, tmp_path):
    with pytest.raises(SystemExit, match="is not empty: name a new folder"):
        main([paper(APPENDIX), str(tmp_path)])


@pytest.fixture(scope="module")
def seeds() -> dict[str, str]:
    """Texts that print the prompts, by the beginning of their file names."""
    named = {
        path.name[:3]: path.read_text(encoding="utf-8") for path in (SHARED / "seeds").glob("00[04]_*.txt")
    }
    if len(named) < 2:
        pytest.skip("the papers' texts (shared seeds) are not present; set RAGMETRICS_SHARED")
    return named


def test_the_papers_own_text_has_all_five_prompts(seeds):
    found, missing = found_in(seeds["000"])
    assert missing == {}
    words = {name: len(printed.instruction.split()) for name, printed in found.items()}
    # counted by hand in appendices A.1 to A.5
    assert words == {
        "paper_statements": 17,
        "paper_verdicts": 56,
        "paper_question": 7,
        "paper_sentences": 56,
        "paper_facts": 47,
    }


def test_notes_that_wrap_the_prompts_give_the_same_words_for_the_two_that_are_whole(seeds):
    whole = texts(found_in(seeds["000"])[0])
    found, missing = found_in(seeds["004"])
    assert texts(found) == {name: whole[name] for name in ("paper_statements", "paper_question")}
    assert "without a place for [context]" in missing["paper_verdicts"]


def test_the_repository_does_not_hold_the_papers_wording(seeds):
    printed, _ = found_in(seeds["000"])
    beginnings = [" ".join(each.instruction.split()[:8]) for each in printed.values()]
    own = [
        path for folder in ("ragmetrics_core", "examples", "docs") for path in (ROOT / folder).rglob("*.*")
    ]
    for path in own:
        if path.suffix in {".md", ".py", ".toml", ".json"}:
            text = " ".join(path.read_text(encoding="utf-8").split())
            assert not [words for words in beginnings if words in text], path
