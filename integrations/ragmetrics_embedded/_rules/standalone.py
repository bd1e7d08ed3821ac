"""A question with the earlier ones that it refers to; these rules rewrite nothing."""

from ragmetrics_embedded._support.vocabulary import ANAPHORA
from ragmetrics_embedded._support.words import read_words

__all__ = ["with_earlier_questions"]

_USER = "user: "
_ASSISTANT = "assistant: "
# A question with fewer words of content is a part of the one before: "And in Ulm?"
_FEWEST_WORDS = 2


def with_earlier_questions(question: str, conversation: str) -> str:
    r"""The question, followed in brackets by the user's earlier messages that it needs.

    These go back to the last message that can be understood alone: it has words of content and none that
    refers to something else.

    >>> with_earlier_questions("When was it built?", "user: Where is Ulm Minster?\nassistant: In Ulm.")
    'When was it built? (Where is Ulm Minster?)'
    """
    needed: list[str] = []
    earlier = _said_by_user(conversation)
    text = question
    while _refers_back(text) and earlier:
        text = earlier.pop()
        needed.append(text)
    return f"{question} ({' '.join(reversed(needed))})" if needed else question


def _refers_back(text: str) -> bool:
    words = read_words(text)
    return len(words.content_keys) < _FEWEST_WORDS or any(token.folded in ANAPHORA for token in words.tokens)


def _said_by_user(conversation: str) -> list[str]:
    """The user's messages in order, from lines that begin with the speaker's role."""
    messages: list[list[str]] = []
    is_user = False
    for line in conversation.splitlines():
        if line.startswith((_USER, _ASSISTANT)):
            is_user = line.startswith(_USER)
            if is_user:
                messages.append([line.removeprefix(_USER)])
        elif is_user:
            messages[-1].append(line)
    return [" ".join(lines) for lines in messages]
