"""Answers that decline to answer, and remarks that something is missing, in several languages."""

import re
from typing import NamedTuple

from ragmetrics_core.models._support.vocabulary import META
from ragmetrics_core.parsers import split_sentences

__all__ = ["is_missing_remark", "refusal", "without_meta_words"]

# What an answer calls the material that it was given.
_SOURCE = r"""(?:(?:the|these|those|this|your|given|provided|supplied|retrieved|available|above
    |following)\s+)*
    (?:contexts?|texts?|passages?|documents?|documentation|sources?|articles?|excerpts?|materials?
    |chunks?|paragraphs?|search\ results?|(?:given|provided|available|retrieved)\ (?:information|data))"""
_TELL = r"""(?:mention|state|say|specify|contain|provide|include|give|name|tell|describe|discuss|define
    |address|cover|answer|explain|indicate|have|refer|list|offer|detail|clarify|disclose|reveal|identify|talk
    |directly|explicitly|specifically|seem|appear|actually|clearly)"""
_TOLD = r"""(?:mentioned|stated|specified|given|provided|discussed|described|addressed|covered|included
    |contained|found|available|answered|named|defined|explained|indicated|listed)"""
_NOT = r"(?:do(?:es)?\ not|don['’]t|doesn['’]t|did\ not|didn['’]t|never|fails?\ to)"
_CANNOT = r"""(?:could\ not|couldn['’]t|can\ ?not|can['’]t|did\ not|didn['’]t|do\ not|don['’]t
    |(?:was|am|were|are)\ (?:unable|not\ able)\ to)"""
_INFORMATION = r"(?:information|mention|details?|answers?)"
_PARTS = {
    "SOURCE": _SOURCE,
    "TELL": _TELL,
    "TOLD": _TOLD,
    "NOT": _NOT,
    "CAN": _CANNOT,
    "INFO": _INFORMATION,
}


class _Rule(NamedTuple):
    reason: str
    pattern: re.Pattern[str]


def _rule(reason: str, pattern: str) -> _Rule:
    filled = re.sub(r"\{(SOURCE|TELL|TOLD|NOT|CAN|INFO)\}", lambda found: _PARTS[found[1]], pattern)
    return _Rule(reason, re.compile(filled, re.IGNORECASE | re.VERBOSE))


_RULES = (
    _rule("it says that no answer was found", r"""
          \bno\ (?:(?:clear|direct|specific|definite)\ )?answers?\ (?:(?:was|is|were|could\ be|can\ be)\ )?
          (?:found|available|given|provided|possible)\b
        | \b(?:i|we)\ {CAN}\ (?:find|locate|see|determine|answer|tell|say|provide|give|help|identify
          |confirm)\b
        | ^\W*(?:unable\ to|cannot|can['’]t|could\ not|not\ able\ to|impossible\ to)\ (?:be\ )?
          (?:answer|find|determine|provide|locate|say|tell)
        | \b(?:question|it|this|that)\ (?:can\ ?not|can['’]t|could\ not|couldn['’]t)\ be\ (?:answered
          |determined)\b
        | ^\W*(?:n/a|not\ found|no\ information|no\ data|unknown|unanswerable|not\ available|none\ found
          |insufficient\ (?:information|context|data))\W*$"""),
    _rule("it says that it does not know", r"""
          \b(?:i|we)\ (?:really\ |simply\ |just\ )?(?:do\ not|don['’]t|did\ not|didn['’]t)\ (?:know
          |have\ (?:enough|sufficient|any|that|the|access|information|an\ answer))\b
        | \b(?:i['’]?m|i\ am|we\ are)\ (?:not\ sure|unsure|not\ certain|unaware|not\ aware)\b
        | ^\W*(?:no\ idea|not\ sure)\b | \bi\ have\ no\ (?:information|idea|knowledge|data)\b"""),
    _rule("it says that the text does not tell", r"""
          \b{SOURCE}\ (?:that\ (?:was|were|is|are)\ \w+\ )?(?:{NOT}\ {TELL}|lacks?|ha(?:s|ve)\ no)\b
        | \b(?:not|never|nowhere|n['’]t)\ (?:\w+\ ){0,2}{TOLD}\ (?:\w+\ ){0,2}(?:in|by|within
          |from)\ {SOURCE}
        | \b(?:there\ (?:is|was|are)|contains?|provides?|gives?|offers?)\ (?:no|not\ enough|insufficient
          |not\ any)\ (?:\w+\ ){0,2}{INFO}\b
        | \bno\ (?:\w+\ ){0,2}{INFO}\ (?:\w+\ ){0,4}(?:in|from|within)\ {SOURCE}
        | \b(?:insufficient|not\ enough)\ (?:information|context|detail)\b
        | ^\W*they\ {NOT}\ (?:say|name|mention|state|tell|specify|describe|define|give|cover)\b"""),
    _rule("it asks for more information", r"""
          ^\W*(?:could|can|would)\ you\ (?:please\ )?(?:provide|clarify|specify|give|share|rephrase)\b
        | ^\W*please\ (?:provide|clarify|specify|rephrase)\b"""),
    _rule("it refuses or apologises", r"""
          ^\W*(?:(?:i['’]?m|i\ am)\ (?:very\ |so\ )?(?:sorry|afraid)|sorry|(?:my\ )?apologies
          |i\ apologi[sz]e
          |as\ an\ ai)\b"""),
    _rule("it says that it has no answer (German)", r"""
          \bkeine?n?\ (?:\w+\ ){0,2}(?:informationen?|angaben?|antwort(?:en)?|hinweise?|auskunft
          |erwähnung)\b
        | \bwei(?:ß|ss)\ (?:ich\ )?(?:es\ )?(?:leider\ )?nicht\b | \bes\ tut\ mir\ leid\b
        | \b(?:nicht|nirgends)\ (?:\w+\ ){0,2}(?:erwähnt|genannt|angegeben|beantwort\w+|finden)\b
        | \b(?:text|kontext|dokument|abschnitt|quelle)\w*\b[^.]{0,60}\bnicht\b[^.]{0,30}\b(?:enthalten
          |hervor|gefunden)\b"""),
    _rule("it says that it has no answer (French)", r"""
          \bje\ ne\ (?:sais|peux|trouve|dispose)\b | \bdésolée?\b
        | \baucune?\ (?:\w+\ ){0,2}(?:information|réponse|mention)
        | \bpas\ (?:\w+\ ){0,2}(?:d['’]informations?|de\ réponse|mentionnée?|précisée?|indiquée?)\b
        | \b(?:texte|contexte|document|passage)s?\ ne\ \w+\ pas\b"""),
    _rule("it says that it has no answer (Spanish)", r"""
          \bno\ (?:lo\ )?(?:sé|puedo\ (?:encontrar|responder|determinar)|encuentro|encontré|dispongo)\b
        | \bno\ se\ (?:menciona|especifica|indica|encontró|proporciona)\w*\b | \blo\ siento\b
        | \bno\ hay\ (?:\w+\ ){0,2}(?:información|respuesta|mención) | \bninguna\ (?:información|respuesta)
        | \b(?:texto|contexto|documento|pasaje)s?\ (?:\w+\ )?no\ \w+"""),
    _rule("it says that it has no answer (Italian)", r"""
          \bnon\ (?:lo\ )?(?:so|posso\ (?:trovare|rispondere|determinare)|trovo|ho\ trovato|dispongo)\b
        | \bnon\ (?:è|viene|sono|vengono)\ (?:menzionat|specificat|indicat|fornit|riportat)\w+
          | \bmi\ dispiace\b
        | \bnessuna\ (?:informazione|risposta) | \b(?:testo|contesto|documento
          |brano)\ (?:\w+\ )?non\ \w+"""),
    _rule("it says that it has no answer (Portuguese)", r"""
          \bnão\ (?:sei|encontrei|encontro|posso\ (?:encontrar|responder|determinar))\b
          | \bsinto\ muito\b | \bdesculpe\b
        | \bnão\ (?:é|são|foi|está)\ (?:mencionad|especificad|indicad|fornecid)\w+
          | \bnão\ há\ (?:\w+\ ){0,2}informaç
        | \bnenhuma\ (?:informação|resposta) | \b(?:texto|contexto|documento
          |trecho)s?\ (?:\w+\ )?não\ \w+"""),
    _rule("it says that it has no answer (Dutch)", r"""
          \bik\ weet\ (?:het\ )?niet\b | \bhet\ spijt\ me\b
        | \bgeen\ (?:\w+\ ){0,2}(?:informatie|antwoord|vermelding)\b
        | \bniet\ (?:\w+\ ){0,2}(?:vermeld|genoemd|vinden|beantwoorden)\b"""),
    _rule("it says that it has no answer (Russian)", r"""
          \bне\ (?:знаю|могу\ (?:найти|ответить|определить)|удалось\ найти|нашёл|нашел|упомина\w*
          |упомянут\w*)\b
        | \bнет\ (?:\w+\ ){0,2}(?:информации|ответа|сведений)\b | \bизвините\b
        | \b(?:текст|контекст|документ)\w*\ не\ \w+"""),
    _rule("it says that it has no answer (Chinese)", r"""
          (?:没有|沒有|并未|並未|未)(?:[^，。；]{0,4})(?:提到|提及|涉及|相关信息|相关资料|相關資訊)
        | (?:文本|上下文|文中|资料|文档|材料|文章|原文|段落)[^。；]{0,12}(?:没有|沒有|未|并未|不)
          [^，。；]{0,6}(?:提供|说明|說明|找到|包含|给出|給出|指出|记载)
        | 无法(?:回答|确定|找到|得知) | 無法(?:回答|確定) | 我不(?:知道|清楚|确定) | 找不到(?:答案|相关)
        | 抱歉 | 对不起 | 信息不足 | 无相关(?:信息|内容)"""),
    _rule("it says that it has no answer (Japanese)", r"""
          わかりません | 分かりません | 見つかりません | 記載されていません | 記載(?:は|が)ありません
        | 言及(?:されて|して)いません | 情報(?:は|が)(?:ありません|含まれていません) | 回答できません
        | 答えられません | 不明です | 申し訳"""),
    _rule("it says that it has no answer (Korean)", r"""
          모르겠 | 알\ 수\ 없 | 찾을\ 수\ 없 | 답변할\ 수\ 없 | 언급(?:되어\ 있지|하지|되지)\ 않
        | 정보가\ 없 | 죄송"""),
    _rule("it says that it has no answer (Hindi)", r"""
          नहीं\ (?:पता|मिला|मिली|बता|दी\ गई) | जानकारी\ नहीं | उत्तर\ नहीं | उल्लेख\ नहीं | मुझे\ खेद"""),
    _rule("it says that it has no answer (Arabic)", r"""
          لا\ (?:أعرف|أعلم|توجد\ معلومات|يذكر|أستطيع) | لم\ (?:أجد|يذكر|يتم\ ذكر|أتمكن) | عذرا"""),
)  # fmt: skip
_TURN = re.compile(
    r"^\W*(?:however|but|nevertheless|that said|still|jedoch|aber|allerdings|cependant|sin embargo|tuttavia"
    r"|porém|但是|不过|然而)\b",
    re.IGNORECASE,
)
_LOOKED_AT = 600


def is_missing_remark(sentence: str) -> bool:
    """Whether a sentence says that something is not known or not told."""
    return _reason(sentence) is not None


def refusal(answer: str) -> str | None:
    """Why an answer declines to answer, or None when it gives an answer.

    It declines when its first sentence does and what follows is no answer after a turn ("However, ..."),
    and when all its sentences do.

    >>> refusal("NO ANSWER FOUND. The text is about something else.")
    'it says that no answer was found'
    >>> refusal("Paris. It is not a small town.")
    """
    sentences = split_sentences(answer)
    flags = [_reason(sentence) for sentence in sentences]
    if not sentences or flags[0] is None:
        return None
    turns = any(
        _TURN.match(sentence) and flag is None for sentence, flag in zip(sentences, flags, strict=True)
    )
    return None if turns else flags[0]


def without_meta_words(keys: frozenset[str]) -> frozenset[str]:
    """The keys that are not about the text and the answer themselves."""
    return keys - META


def _reason(sentence: str) -> str | None:
    return next((rule.reason for rule in _RULES if rule.pattern.search(sentence[:_LOOKED_AT])), None)
