"""The peak memory of this process; nothing of this library is imported, so that ragas can use it, too."""

import resource
import sys
from pathlib import Path

__all__ = ["peak_megabytes"]


def peak_megabytes() -> float:
    """The most memory that was resident at once, in megabytes."""
    status = Path("/proc/self/status")
    if status.exists():
        # What getrusage tells on Linux begins with the size of the process that started this one.
        lines = status.read_text().splitlines()
        return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM"))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 2**20 if sys.platform == "darwin" else peak / 1024
