"""Yes and no in the languages that judges answer in; a word is a verdict only when it is all there is."""

import re
import unicodedata
from functools import lru_cache
from typing import NamedTuple

from ragmetrics_core.parsers._lazy_pattern import lazy

__all__ = [
    "PHRASE",
    "LeadingVerdict",
    "digit_word",
    "leading_verdict",
    "takes_back",
    "verdict_value",
    "verdict_word",
]

_YES = """
yes|y|true|1|correct|supported|is supported|fully supported|directly supported|entailed|entailment
attributed|attributable|covered
relevant|useful|present|found|faithful|grounded|pass|passed|yep|yeah|agree|accurate|consistent
inferable|can be inferred
yes supported|true positive|is true|is correct|verified|confirmed
ja|wahr|richtig|gestützt|belegt|unterstützt|wird gestützt|wird unterstützt|wird belegt|zutreffend
stimmt|jawohl
oui|vrai|si|exact|soutenu|soutenue|étayé|étayée|appuyé|confirmé|pertinent|pertinente
sí|verdadero|verdadera|cierto|correcto|apoyado|apoyada|respaldado|respaldada|compatible|relevante
sì|vero|vera|corretto|supportato|supportata|sostenuto|rilevante
sim|verdadeiro|verdadeira|correto|suportado|suportada|apoiada|sustentado
waar|juist|ondersteund|wordt ondersteund|jazeker
是|是的|对|對|真|正确|支持|得到支持|有支持|相关|可以
はい|真である|正しい|支持される|支持されている|裏付けられている|関連あり|そうです
हाँ|हां|जी हाँ|सही|सत्य|समर्थित
да|верно|evet|doğru|نعم|صحيح|예|네|참|jah|jo
"""
_NO = """
no|n|false|0|incorrect|wrong|unsupported|not supported|is not supported|isn't supported
non supported|contradicted|contradiction
refuted|neutral|not entailed|no entailment|not attributed|not attributable|unattributed|not covered
uncovered|irrelevant
not relevant|not useful|useless|absent|not present|not found|not mentioned|not stated|unfaithful
not faithful|ungrounded
not grounded|fail|failed|nope|disagree|inaccurate|inconsistent|not inferable|cannot be inferred
can not be inferred|no not supported|not true|not correct|untrue|unverified|false positive
hallucinated|hallucination
nein|falsch|unwahr|nicht gestützt|nicht belegt|nicht unterstützt|wird nicht gestützt
wird nicht unterstützt|wird nicht belegt
nicht zutreffend|irrelevant|unbelegt|nicht relevant
non|faux|fausse|non soutenu|non soutenue|non étayé|non étayée|pas soutenu|non pertinent|non confirmé
falso|falsa|incorrecto|no apoyado|no apoyada|no respaldado|no respaldada|irrelevante|no relevante
no compatible
non supportato|non supportata|non sostenuto|non rilevante|errato|sbagliato
não|nao|incorreto|não suportado|não suportada|não apoiada|não sustentado|não relevante
nee|onwaar|onjuist|niet ondersteund|wordt niet ondersteund|niet relevant
否|不|不是|错|錯|错误|假|不正确|不支持|未支持|没有支持|不受支持|未得到支持|无关|不相关|不对
いいえ|偽|誤り|正しくない|支持されない|支持されていない|裏付けられていない|関連なし
नहीं|नही|जी नहीं|गलत|ग़लत|असत्य|असमर्थित|समर्थित नहीं
нет|неверно|hayır|yanlış|لا|خطأ|아니요|아니오|거짓|ei|nej
"""
# Partly supported counts as not supported: a statement that the contexts carry only in part is not carried
# by them.
_PARTLY = """
partially|partly|partial|partially supported|partly supported|partially true|partly true
partially correct|mostly|mostly supported
somewhat|borderline|partially relevant|partly relevant|partial support|half true|mixed
yes partially|yes partly
teilweise|teilweise gestützt|teilweise unterstützt|teilweise belegt|zum teil|teils|bedingt
partiellement|en partie|partiellement soutenu|partiellement vrai
parcialmente|en parte|parcialmente apoyado|parcialmente verdadero|parcialmente suportado|em parte
parzialmente|in parte|parzialmente supportato
gedeeltelijk|deels|gedeeltelijk ondersteund
部分|部分支持|部分正确|部分是|部分的に|一部|部分的に支持|आंशिक|आंशिक रूप से
"""
# Words at the place of a verdict that decide nothing.
_OPEN = """
unknown|unclear|maybe|perhaps|possibly|uncertain|unsure|not sure|undetermined|indeterminate|n/a|na
none|null|nil|idk|i don't know
cannot determine|cannot be determined|can't tell|cannot tell|insufficient information
not enough information|not applicable
unklar|unbekannt|vielleicht|inconnu|peut-être|incertain|desconocido|quizás|tal vez|incerto|talvez
sconosciuto|forse|onbekend|misschien
未知|不确定|不清楚|不明|わからない|अज्ञात|शायद|yes and no|yes or no|yes/no|tbd
"""


def _words(block: str) -> list[str]:
    return [word.strip() for line in block.strip().splitlines() for word in line.split("|")]


_VERDICTS: dict[str, bool | None] = {
    **dict.fromkeys(_words(_YES), True),
    **dict.fromkeys(_words(_NO), False),
    **dict.fromkeys(_words(_PARTLY), False),
    **dict.fromkeys(_words(_OPEN), None),
}
_PARTIAL = frozenset(_words(_PARTLY))
_SIGNS = {
    "✓": True,
    "✔": True,
    "✅": True,
    "☑": True,
    "👍": True,
    "✗": False,
    "✘": False,
    "❌": False,
    "❎": False,
    "✖": False,
    "👎": False,
}
_SIGN = lazy(f"[{''.join(_SIGNS)}]")
_INVISIBLE = lazy("[\ufe0e\ufe0f\u200d]|[\U0001f3fb-\U0001f3ff]")
_EDGES = " \t\n\r.,;:!?*_`~\"'“”‘’„«»「」『』()[]{}<>|#=…。！，：；、？।-–—→\u00a0"
_TAIL = lazy(
    r"\s+(?:by|in|from|with|to)\s+(?:the\s+|this\s+|any\s+)?(?:given\s+|provided\s+|retrieved\s+)?"
    r"(?:contexts?|passages?|texts?|information|sources?|documents?|references?|"
    r"answer|chunks?|question|ground truth)$"
)
_LEAD = lazy(r"^(?:the\s+)?(?:statement\s+|claim\s+|answer\s+|verdict\s+|it\s+)(?:is|can be)\s+")
# Where a verdict may end and its reason begin. A slash or bar is no end: "Yes/No" is the prompt's own choice.
_END = (
    r"(?:[*_`\"'”’)\]}]*\s*$|[*_`\"'”’)\]}]*\s*(?:[.,:;!。，：；！、।]|[-–—→]+\s|[-–—]{2}|[(（\[]|\n)|[*_`\"'”’)\]}]+\s+(?![/|])"
    r"|[\s,]+(?:because|since|as|due\s+to|given|weil|da|denn|car|parce\s+que|puisque|porque|ya\s+que|perch[eé]|poich[eé]|pois|omdat|want)\b"
    r"|(?=因为|由于|なぜなら|क्योंकि))"
)


def _alternatives(words: list[str]) -> str:
    return "|".join(re.escape(word).replace(r"\ ", r"\s+") for word in sorted(words, key=len, reverse=True))


PHRASE = rf"(?:{_alternatives([*(word for word in _VERDICTS if not word.isdigit()), *_SIGNS])})"
"""A regular expression for every verdict phrase but 1 and 0, longest first; use it with IGNORECASE."""

# Alone these are verdicts; before a text they are list numbers, initials and ordinary words ("1. The", "N.
# Smith", "Found:").
_ONLY_ALONE = frozenset(
    _words("0|1|y|n|found|present|absent|useful|pass|fail|mixed|mostly|na|none|null|nil|si|jo|ei")
)
_LEADING_PHRASE = _alternatives([word for word in _VERDICTS if word not in _ONLY_ALONE])
_LEADING = lazy(
    rf"(?P<phrase>{_LEADING_PHRASE})(?!\w)(?P<end>{_END})",
    re.IGNORECASE,
)
# "Yes, but no": words on the way from a verdict to its contrary, and the plainest words for both.
_TURNS = _words(
    "but|and|or|though|although|however|yet|actually|rather|then|also|aber|und|oder|doch|jedoch|mais|et|ou|cependant"
    "|pero|y|o|aunque|ma|però|e|mas|porém|maar|en|of|toch|但|但是|和|或|しかし|でも|または|लेकिन|और|या|но|и|или|ama|ve"
)
_PLAINEST = frozenset(
    _words(
        "yes|no|yep|yeah|nope|ja|nein|oui|non|sí|sì|sim|não|nao|nee|是|否|不|はい|いいえ|हाँ|हां|नहीं|да|нет|evet|hayır"
    )
)
# What stands in quotes behind a verdict is not the judge's own word: 'Yes. "No" is what he says.'
_BETWEEN = r"[^\w\"'“”‘’«»「」]*?"
_TURNED = lazy(
    rf"{_BETWEEN}(?P<turn>(?:(?:{_alternatives(_TURNS)})\b{_BETWEEN})*)"
    rf"(?:(?P<sign>[{''.join(_SIGNS)}])|(?P<phrase>{_LEADING_PHRASE})(?!\w)"
    r"(?:(?P<alone>[*_`\"'”’)\]}]*\s*(?:$|[.!?;。！？\n]))|%s))" % _END,
    re.IGNORECASE,
)
_OTHER_NUMBER = lazy(r"[-+−]\s*\d|\d\s*[.,/%]\s*\d|\d\s*%")
_LONGEST = 4000
_SHORT = 60
_ORDINAL = lazy(r"no\.\s*\d+(?!\w)", re.IGNORECASE)


class LeadingVerdict(NamedTuple):
    """A verdict at the start of a text, and the text after it."""

    supported: bool | None
    rest: str


def _normal(text: str) -> str:
    text = unicodedata.normalize("NFKC", _INVISIBLE.sub("", text)).replace("’", "'").casefold()
    return " ".join(text.strip(_EDGES).replace("_", " ").split())


def verdict_word(text: str) -> bool | None:
    """Read one word or short phrase that is a verdict and nothing else.

    True for supported, False for not supported or only partly supported, None for words that decide nothing
    ("unclear", "n/a") and for any other text. Markdown, quotes, punctuation and case do not matter; a tick or
    cross counts, unless the word beside it says the opposite.
    """
    if text in _VERDICTS:
        return _VERDICTS[text]
    if len(text) > 200:
        return None
    if _OTHER_NUMBER.search(text):
        return None
    signs = {_SIGNS[sign] for sign in _SIGN.findall(text)}
    word = _normal(_SIGN.sub(" ", text))
    if not word:
        return signs.pop() if len(signs) == 1 else None
    if word not in _VERDICTS:
        word = _LEAD.sub("", _TAIL.sub("", word)).strip(_EDGES).replace(", ", " ")
    verdict = _VERDICTS.get(word)
    return None if signs and signs != {verdict} else verdict


def digit_word(text: str) -> int | None:
    """The 1 or 0 that a text is and nothing else; markup around it and a number sign do not matter."""
    word = _normal(text[:_SHORT]) if len(text) < _SHORT else ""
    return int(word) if word in {"0", "1"} and not _OTHER_NUMBER.search(text) else None


def takes_back(verdict: bool | None, rest: str) -> bool:
    """Whether the words after a verdict are another one: "Yes, but no", "Yes. No.", "Yes, but unclear".

    "Yes, but no date is given" is none, and "No. True, the year is there, but" only concedes something.
    """
    found = _TURNED.match(rest[:_SHORT])
    if verdict is None or found is None:
        return False
    if found["sign"]:
        return _SIGNS[found["sign"]] is not verdict
    word = _normal(found["phrase"])
    return _VERDICTS.get(word) is not verdict and (
        bool(found["turn"]) or found["alone"] is not None or word in _PLAINEST
    )


def leading_verdict(text: str) -> LeadingVerdict | None:
    """Read a verdict at the start of a text, followed by a separator and a reason, or by nothing.

    "No. The context is from yesterday" begins with a verdict, "Yesterday it rained" and "Yes/No" do not.
    None when there is no verdict phrase; `supported` is None when the phrase decides nothing or its contrary
    follows: "Yes, but no". "Yes, but only partly" is partly.
    """
    return _leading(text[:_LONGEST]) if len(text) > _SHORT else _leading_of_short(text)


def _leading(text: str) -> LeadingVerdict | None:
    if not text.isascii():
        text = unicodedata.normalize("NFKC", _INVISIBLE.sub("", text).replace("’", "'"))
    start = len(text) - len(text.lstrip(" \t\n*_`\"'“‘([{<#>-–—:："))
    if signed := _SIGN.match(text, start):
        after = signed.end() + len(text[signed.end() :]) - len(text[signed.end() :].lstrip(" *_:-–—"))
        word = _LEADING.match(text, after)
        if word is None:
            rest = text[signed.end() :].lstrip(_EDGES).rstrip()
            return LeadingVerdict(None if takes_back(_SIGNS[signed[0]], rest) else _SIGNS[signed[0]], rest)
        if verdict_word(word["phrase"]) != _SIGNS[signed[0]]:
            return LeadingVerdict(None, text[after:])
        start = after
    found = _LEADING.match(text, start)
    if found is None or _ORDINAL.match(text, start):  # "No. 5"
        return None
    behind = text[found.end("phrase") :]
    rest = behind.lstrip(" \t\n*_`\"'”’)]}.,:;!。，：；！、।-–—→").rstrip()
    verdict = _VERDICTS.get(_normal(found["phrase"]), _SIGNS.get(found["phrase"]))
    if (
        verdict
        and (partly := re.match(r"\W*(?:but\s+|though\s+)?(?:only\s+)?(\w+)", rest[:80]))
        and _normal(partly[1]) in _PARTIAL
    ):
        verdict = False
    return LeadingVerdict(None if takes_back(verdict, behind.lstrip("\"'”’")) else verdict, rest)


# The lines of a reply say the same few words over and over.
_leading_of_short = lru_cache(maxsize=1024)(_leading)


def verdict_value(value: object) -> bool | None:
    """Read the value of a JSON verdict: true, false, 1, 0, or a text that is or begins with a verdict."""
    if isinstance(value, bool):
        return value
    if isinstance(value, int):
        return bool(value) if value in {0, 1} else None
    if not isinstance(value, str):
        return None
    if (verdict := verdict_word(value)) is not None:
        return verdict
    led = leading_verdict(value)
    return led.supported if led else None
