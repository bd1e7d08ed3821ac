"""What a search found: for each place that raises, the shortest input that leads there."""

import traceback
from collections.abc import Callable
from pathlib import Path

__all__ = ["Findings"]


class Findings:
    """The findings of one target.

    Args:
        name: the target's name.
        folder: where the inputs are left.
    """

    def __init__(self, name: str, folder: Path) -> None:
        self.told: dict[str, str] = {}
        self._name = name
        self._folder = folder

    def watched(self, run: Callable[[bytes], None], data: bytes) -> bool:
        """Run on an input; whether nothing was raised that is not allowed."""
        try:
            run(data)
        except Exception as error:  # whatever it is, it is a finding, and the search goes on
            self._note(error, data)
            return False
        return True

    def add(self, kind: str, data: bytes, what: str) -> None:
        """Leave an input, unless there is a shorter one of its kind."""
        path = self._folder / f"{self._name}-{kind}"
        if str(path) not in self.told or path.stat().st_size > len(data):
            path.write_bytes(data)
            self.told[str(path)] = what

    def _note(self, error: Exception, data: bytes) -> None:
        frames = traceback.extract_tb(error.__traceback__)
        own = [each for each in frames if "ragmetrics_core" in each.filename] or list(frames)
        place = Path(own[-1].filename)
        what = f"{type(error).__name__} at {place.name}:{own[-1].lineno}: {str(error)[:120]}"
        self.add(f"{type(error).__name__}-{place.stem}-{own[-1].lineno}", data, what)
