"""Texts of earlier requests, by which the words of a prompt are known that no template tells."""

from collections import OrderedDict, deque
from collections.abc import Sequence
from threading import Lock

__all__ = ["EarlierRequests"]

_MOST_COMPONENTS = 100
_MOST_REQUESTS = 3
# A longer rest of a request is no prompt.
_LONGEST = 20_000


class EarlierRequests:
    """Unaccounted texts in the latest requests of each model; thread-safe."""

    def __init__(self) -> None:
        self._of: OrderedDict[str, deque[tuple[str, Sequence[str]]]] = OrderedDict()
        self._lock = Lock()

    def shared(self, component: str, question: str) -> list[str]:
        """Those texts of a component's requests about other questions: its prompt has them as well."""
        with self._lock:
            requests = list(self._of.get(component, ()))
        return [text for asked, texts in requests if asked != question for text in texts]

    def add(self, component: str, question: str, texts: Sequence[str]) -> None:
        """Keep what no text accounted for in a request."""
        if sum(map(len, texts)) > _LONGEST:
            return
        with self._lock:
            requests = self._of.setdefault(component, deque(maxlen=_MOST_REQUESTS))
            requests.append((question, texts))
            self._of.move_to_end(component)
            while len(self._of) > _MOST_COMPONENTS:
                self._of.popitem(last=False)
