"""Why something that an application did is no sample."""

__all__ = ["Skip"]


class Skip(Exception):
    """Raised by a translation: this is no sample to score. It is counted and never an error.

    Args:
        reason: why: a `SkipReason`, or a short word of your own in snake_case, "internal_user".
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason
