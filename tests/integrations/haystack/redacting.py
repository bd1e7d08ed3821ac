"""A function that takes a name out, where a saved pipeline can find it."""

__all__ = ["ANN", "without_ann"]

ANN = "Ann-Sophie Waldstein"


def without_ann(text: str) -> str:
    """The text without Ann."""
    return text.replace(ANN, "[name]")
