"""LettuceDetect beside the package of its makers, where that is installed (`nox -s lettucedetect`)."""

import pytest

pytest.importorskip("torch", exc_type=ImportError)
pytest.importorskip("transformers", exc_type=ImportError)
oracle = pytest.importorskip("lettucedetect.detectors.transformer", exc_type=ImportError)

from ragmetrics_core.models.grounded import LettuceDetect  # noqa: E402
from tests.models.test_grounded import CLAIMS, TEXTS, models  # noqa: E402, F401

LONG = ["the cat sat on the mat .", "einstein was born in ulm .", "the cat was born in paris ."]


@pytest.mark.parametrize("question", [None, "where was einstein born ?"])
@pytest.mark.parametrize(("passages", "longest"), [(TEXTS, 512), (LONG, 24), (LONG, 34), (LONG, 60)])
def test_spans_and_probabilities_are_those_of_the_makers_package(models, passages, longest, question):  # noqa: F811
    theirs = oracle.TransformerDetector(models["lettuce"], max_length=longest, device="cpu")
    ours = LettuceDetect(model=models["lettuce"], longest=longest)

    for claim in [*CLAIMS, "einstein was born in ulm . the cat sat on the mat ."]:
        expected = theirs.predict(passages, claim, question, output_format="spans")
        found = ours.spans(claim, passages, question)

        assert [(each.start, each.end) for each in found] == [
            (each["start"], each["end"]) for each in expected
        ]
        assert [each.probability for each in found] == pytest.approx(
            [each["confidence"] for each in expected], abs=1e-5
        )
