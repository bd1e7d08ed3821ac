"""The exception for runs that are not samples."""

__all__ = ["Skip"]


class Skip(Exception):
    """Raised by a translation for a run that is not a sample. It is counted and is not an error.

    Args:
        reason: a `SkipReason`, or a custom word in snake_case such as "internal_user".
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason
