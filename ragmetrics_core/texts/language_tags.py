"""Language tags in any spelling: "DE", "de-AT", "en_GB", "pt-BR".

Translations of prompts, word lists and sentence ends are looked up under the tags of `tags_of`, in order.
"""

__all__ = ["base_of", "spelled", "tags_of"]


def spelled(tag: str) -> str:
    """Canonical form of a tag: lower case, with hyphens.

    Tags are not case sensitive (RFC 5646, section 2.1.1), and POSIX writes "en_GB" for "en-GB".

    >>> spelled("pt_BR")
    'pt-br'
    """
    return tag.strip().replace("_", "-").casefold()


def tags_of(tag: str | None) -> tuple[str, ...]:
    """The tag and its more general tags, most specific first; empty without a tag.

    >>> tags_of("zh-Hant-TW")
    ('zh-hant-tw', 'zh-hant', 'zh')
    """
    parts = spelled(tag or "").split("-")
    return tuple("-".join(parts[:end]) for end in range(len(parts), 0, -1)) if parts[0] else ()


def base_of(tag: str | None) -> str | None:
    """The language without region or script; None if there is no tag.

    >>> base_of("de-AT")
    'de'
    """
    return next(reversed(tags_of(tag)), None)
