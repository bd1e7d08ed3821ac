"""A circuit breaker: no captures are begun while the judge is down."""

import threading
import time
from collections.abc import Callable

__all__ = ["Breaker"]

# Failed attempts in a row that mean that the judge is down, rather than one request.
_FAILURES = 5
# Seconds to the first try, and at most.
_FIRST_DELAY = 5.0
_LONGEST_DELAY = 60.0


class Breaker:
    """Stop calls after five failed attempts in a row; then try one capture after 5, 10, 20, ... 60 seconds.

    Args:
        opens: called with the failure when the judge counts as down.
        tries: called with the seconds until the next try.
        closes: called when it answers again.
        clock: a monotonic clock in seconds.

    Attributes:
        is_open: whether the judge counts as down.
        first_delay: seconds to the first try.
    """

    def __init__(
        self,
        *,
        opens: Callable[[str], None],
        tries: Callable[[float], None],
        closes: Callable[[], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._opens, self._tries, self._closes, self._clock = opens, tries, closes, clock
        self.first_delay = _FIRST_DELAY
        self.is_open = False
        self._lock = threading.Lock()
        self._failures = 0
        self._delay = 0.0
        self._try_at = 0.0
        self._is_trying = False

    def failed(self, failure: str) -> None:
        """Count a failed attempt of a call."""
        with self._lock:
            self._failures += 1
            is_first = not self.is_open and self._failures >= _FAILURES
            if not is_first and not self._is_trying:
                return
            self._delay = self.first_delay if is_first else min(2 * self._delay, _LONGEST_DELAY)
            self._try_at = self._clock() + self._delay
            self.is_open, self._is_trying = True, False
        if is_first:
            self._opens(failure)
        self._tries(self._delay)

    def succeeded(self) -> None:
        """Count a call that was answered."""
        with self._lock:
            was_open, self.is_open = self.is_open, False
            self._failures, self._is_trying = 0, False
        if was_open:
            self._closes()

    def admits(self) -> bool:
        """Whether a capture may begin; while the judge is down, one for each try."""
        with self._lock:
            if not self.is_open:
                return True
            if self._is_trying or self._clock() < self._try_at:
                return False
            self._is_trying = True
            return True

    def ended(self) -> None:
        """Note that a capture ended; if it was the try and made no call, another one may be."""
        with self._lock:
            self._is_trying = False
