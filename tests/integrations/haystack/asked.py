"""What batch evaluators are asked, and of whom."""

from typing import Any

from haystack_integrations.components.evaluators.ragmetrics import FaithfulnessEvaluator
from tests.integrations.haystack.generators import scripted

__all__ = ["INPUTS", "QUESTIONS", "faithfulness"]

QUESTIONS = ["What is the capital of France?", "What is the capital of Spain?"]
INPUTS: dict[str, Any] = {
    "questions": QUESTIONS,
    "contexts": [["Paris is the capital of France."], ["Paris is the capital of France."]],
    "predicted_answers": ["Paris is the capital.", "Madrid is the capital."],
}


def faithfulness(**options: Any) -> FaithfulnessEvaluator:
    return FaithfulnessEvaluator(**{"chat_generator": scripted(), "progress_bar": False} | options)
