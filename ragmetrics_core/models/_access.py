"""Whether a model answers at all."""

from ragmetrics_core.errors import AccessRefused

__all__ = ["Access"]


class Access:
    """Whether a model answers at all: what refuses the first call, or some in a row, refuses every one."""

    IN_A_ROW = 3

    def __init__(self) -> None:
        self._left = 1

    def granted(self) -> None:
        """A call was answered."""
        self._left = self.IN_A_ROW

    def refused(self, error: AccessRefused) -> None:
        """A call was refused; the error says whether that is likely to last."""
        self._left -= 1
        error.is_lasting = self._left <= 0
