"""Why something that an application did is not scored: one vocabulary for the core and all adapters."""

import asyncio
from typing import Literal

__all__ = ["SkipReason", "reason_of"]

SkipReason = Literal[
    # how a run ended, of which there is no answer to score
    "run_failed",
    "cancelled",
    "abandoned",
    "never_ended",
    "interrupted",
    # what a run has not
    "no_question",
    "media_in_question",
    "no_answer",
    "several_answers",
    "no_contexts",
    # what became of the capture
    "not_sampled",
    "paused",
    "overflow",
    "closed",
    # what is wrong with the hooks
    "hook_failed",
    "not_traced",
]


def reason_of(error: BaseException | None) -> SkipReason:
    """Why a run that ended with this error is not scored.

    >>> reason_of(ValueError()), reason_of(asyncio.CancelledError()), reason_of(GeneratorExit())
    ('run_failed', 'cancelled', 'abandoned')
    """
    if isinstance(error, asyncio.CancelledError):
        return "cancelled"
    # a generator that its reader closed before the end
    return "abandoned" if isinstance(error, GeneratorExit) else "run_failed"
