"""How long a server asks to wait before it is called again."""

import time
from collections.abc import Mapping
from math import isfinite

__all__ = ["retry_after"]


def retry_after(headers: Mapping[str, str]) -> float | None:
    """The seconds that a server asks to wait, given in milliseconds, in seconds or as a date.

    None when it does not ask, or not in a way that can be read.

    Args:
        headers: of its answer, found by small letters.

    >>> retry_after({"retry-after": "7"}), retry_after({"retry-after-ms": "250"}), retry_after({})
    (7.0, 0.25, None)
    """
    try:
        seconds = _asked(headers)
    except (ValueError, OverflowError):
        return None
    return seconds if isfinite(seconds) else None


def _asked(headers: Mapping[str, str]) -> float:
    if milliseconds := headers.get("retry-after-ms"):
        return max(0.0, float(milliseconds) / 1000)
    after = headers.get("retry-after", "")
    if after.replace(".", "", 1).isdecimal():
        return float(after)
    # loaded here, because few servers give a date
    from email.utils import parsedate_to_datetime

    until = parsedate_to_datetime(after).timestamp()
    # The server's clock says how long that is, as far as it is told: ours may be wrong, and may jump.
    sent = headers.get("date")
    now = parsedate_to_datetime(sent).timestamp() if sent else time.time()
    return max(0.0, until - now)
