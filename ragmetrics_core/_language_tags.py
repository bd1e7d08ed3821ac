"""Tags of languages, in whatever spelling a data set has them: "DE", "de-AT", "en_GB", "pt-BR".

What goes by a language (translations of prompts, word lists, ends of sentences) looks for the tags that
`tags_of` gives, in their order.
"""

__all__ = ["base_of", "spelled", "tags_of"]


def spelled(tag: str) -> str:
    """The one spelling of a tag: lower case, with hyphens.

    Tags are compared without regard to case (RFC 5646, section 2.1.1), and POSIX writes "en_GB" for "en-GB".

    >>> spelled("pt_BR")
    'pt-br'
    """
    return tag.strip().replace("_", "-").casefold()


def tags_of(tag: str | None) -> tuple[str, ...]:
    """The tag and the more general ones that it falls under, the most specific one first; none without a tag.

    >>> tags_of("zh-Hant-TW")
    ('zh-hant-tw', 'zh-hant', 'zh')
    """
    parts = spelled(tag or "").split("-")
    return tuple("-".join(parts[:end]) for end in range(len(parts), 0, -1)) if parts[0] else ()


def base_of(tag: str | None) -> str | None:
    """The language itself, without region or script; None without a tag.

    >>> base_of("de-AT")
    'de'
    """
    return next(reversed(tags_of(tag)), None)
