"""How a clause says that it cannot answer, in English and Chinese."""

from __future__ import annotations

import re

# A refusal is a clause whose subject is the evidence, the question, "it", or whoever answers, or which has none: "the
# minister cannot answer" is news. Chinese is compared in simplified characters. One pattern a line; capitals: below.
_REFUSALS = r"""
\bSOURCE\b[^,;]{0,40}\b(?:HASNT|fails? to) (?:\w+ )?SAID
\b(?:data|details?|information)\b[^,;]{0,40}\bNOT (?:\w+ )?SAID
\bSOURCE\b[^,;]{0,40}\bHASNT (?:\w+ )?(?:have (?:\w+ ){0,3}TOLD|allow (?:\w+ ){0,2}(?:answers?|conclusions?))HERE
\bSOURCE\b[^,;]{0,20} (?:lacks? (?:\w+ ){0,2}TOLDHERE|leaves? (?:it|this|that|the question) (?:open|unclear))
\bSOURCE\b[^,;]{0,20} (?:is|are|was|were) (?:silent(?= (?:on|about)\b|\W*$)|in(?:sufficient|adequate) to (?:answer|say))
\bSOURCE\b[^,;]{0,20} SAID no FACTHERE
\bSOURCE\b[^,;]{0,40} (?:NOT|not) (?:\w+ )?(?:available|enough|sufficient)\b(?! (?:to (?!answer|say|tell)|un\w+|online))
\bSOURCE\b[^,;]{0,20} (?:SAID|makes?|ha[sd]|have) (?:nothing|NONETOLD)\b
NOT (?:\w+ )?(?:SAID|clear) (?:in|by|from) INSOURCE
^(?:(?:the|this|that|such|your) (?:answer|details?|information) (?:is|are) )?not (?:\w+ )?(?:in|among) INSOURCE
^no (?:FACT|mention) (?:of [^,;]{1,30} )?(?:is|was|are|were) (?:SAID|made) (?:in|by) INSOURCE
^there (?:is|was) nothing (?:\w+ ){0,4}(?:in|from) INSOURCE|^we are not toldHERE
^(?:none|neither) of [^,]{0,30}\bSOURCE\b[^,]{0,30}\bSAID|^no SOURCE SAID
^nothing (?:\w+ ){0,3}(?:is|was|in) [^,]{0,30}\bSAID|^nothing (?:was |is )?(?:relevant )?KNOWNHERE
LEAD(?:i|we) (?:(?:do|did) not (?:have|know|find|see)|UNABLE KNOWN|am (?:not |un)(?:sure|certain|aware)HERE)
LEAD(?:i|we) (?:see|have|had|found|find|can find|could find) NONETOLDHERE
LEAD(?:(?:the |this |that |your |an? )?(?:questions?|answer|it|this|that|which) )?UNABLE (?:be )?KNOWN
LEAD(?:it|this|the answer) (?:NOT (?:\w+ )?(?:SAID|known|clear|available)|(?:is|remains) un(?:known|clear))HERE
LEAD(?:there (?:is|was|are|were) NONETOLD\b(?! (?:cent|desk|leak|securit|system|technolog))|NONETOLDHERE)
^(?:i have )?no (?:idea|clue)\b
^NONETOLD (?:is |was |are |were )?(?:available|found|given|provided|retrieved|returned|located|to \w+)\b
^(?:n/?a\b|none given|no answer|unanswerable|unknownHERE|un(?:clear|specified|stated) (?:in|from|by)\b)[^,;]{0,40}$
^not (?:\w+ )?(?:SAID(?<!ly)|available|known|clear|sure|certain|enough(?= (?:TOLD|to)\b|\W*$))\b[^,;]{0,40}$
CITED[^,。;]{0,12}(?:没有?|未|无)[^,。;]{0,8}(?:提|说|记载|包含|指出|涉及|涵盖|谈[及到]|显示|回答|相关|交代|答案|[写列])
CITED[^,。;]{0,12}(?:没有?|未有|[并查]?无)SUCHMATTER\W*$|CITED[中里内][都也并均]?没有\W*$
BEFORE没有SUCHMATTER\W*$|MATTER并?不在[^,。;]{0,10}CITED|CITED[^,。;]{0,6}看不出
没有(?:任何|足够)?的?CITED[可足]?[以能]够?(?:回答|作答|说明|判断)
BEFORE(?:未|没有?|无)(?:曾|有|被|明确|具体|直接|任何|进一步)*(?:提[及到供]|说明|记载|交代|指出|涉及|列出|写明|显示)(?!此)
BEFORE(?:无法|不能|难以|无从)[^,。;]{0,10}(?:回答|作答|确[定认]|得[知出]|判断|提供|找到|知道|知悉|看出|推断|帮|查)
BEFORE(?:不知道?|不太?清楚|不确定|不得而知|不详|未知|不明|无解|没有答案|无答案|无可奉告)\W*(?:$|[,;])
CITED[^,。;]{0,6}(?:不足|不够|有限|缺乏|[过太]少)(?=\W*$|以(?:[回作]答|判断|确|说明)|,[^,]{0,6}(?:无法|不能|难以|无从))
^缺[乏少](?:足够|相关)?的?CITED
(?:查无|找不到|查不到|(?:没有|无|未|没)(?:找到|查到|足够|任何|相关)+的?)[^,。;]{0,6}(?:CITED|答案|记录|纪录)
"""
_REFUSAL_WORDS = {
    "BEFORE": r"(?:^|[,:;])(?:我们?|您?的?(?:这个|[这该此本])?(?:问题|题目?)|答案|对?[这此]|CITED|所?提供的?|给定的?"
    r"|现有的?|[目暂]前?时?|因此|所以|[故并也仍尚均皆都里中内上很]|抱歉|对不起|[这哪一各]?[篇份些个])*+"
    r"(?:[从由依按据以在根][^,]{0,30})?",  # *+ gives nothing back: the ways to read one text are else 2^n
    "SUCH": "(?:(?:这样|[这那该此]|任何|相关|有关|足够|所需|其他)一?(?:项|个|种|条|些|类|方面)?的?)+",
    "MATTER": "(?:信息|资讯|资料|内容|答案|记录|纪录|线索|描述)",
    "CITED": "(?:资料|文[章中本件献档]|上下文|档案|来源|报[道导]|内容|[原本全]文|段落|材料|信息|资讯|证据|数据库?)",
    "UNABLE": "(?:can ?not|could not|(?:am |is |are |was |were )?(?:unable to|not able to|(?:not |im)possible to))",
    "LEAD": r"^(?:(?!.*\b(?:said|says|told|asked)\b).{0,160}[,:;] ?|i am sorry )?(?:(?:and|but|so|thus|that) )*",
    "HERE": r"(?=\W*$| (?:in|by|from|within|here|anywhere|at all|on|about|whether|if|wh\w+|how|for (?:it|th\w+)"
    r"|to th\w+)\b)",
    "NONE": r"(?:no|not (?:enough|any)|in(?:sufficient|adequate)|lack of) (?:\w+ ){0,2}",
    "HASNT": "(?:do|does|did|has|have|had)(?: not| nowhere)",
    "NOT": "(?:do|does|did|is|are|was|were|has|have|had)(?: not| nowhere)",
    "FACT": "(?:amounts?|causes?|dates?|figures?|names?|numbers?|reasons?)",
    "TOLD": "(?:answers?|articles?|context|data|details?|documents?|information|mention|passages?|results|sources?)",
    "KNOWN": r"(?:address|answer|assist|comment|confirm|determin|establish|find|found|give|help|identif|know|locat"
    r"|provid|say|tell|verif)\w*",
    "SAID": r"(?:address|answer|clarif|contain|cover|deal|describ|detail|disclos|discuss|explain|explicit|found|giv"
    r"|hold|includ|indicat|listed|mention|offer|provid|record|report|reveal|said|say|show|specif|stat|suppl|tell|told)\w*",
    "INSOURCE": r"(?:the|this|these|that|those|any|either|your)(?: \w+){0,2} SOURCE\b",
    "SOURCE": "(?:archive|articles?|contexts?|coverage|data|documents?|evidence|excerpts?|information|materials?"
    "|passages?|references?|reports?|results|snippets?|sources?|stor(?:y|ies)|texts?)",
}


def _one_pattern(lines: str) -> re.Pattern[str]:
    for name, words in _REFUSAL_WORDS.items():
        lines = lines.replace(name, words)
    return re.compile("|".join(lines.split("\n")[1:-1]))


REFUSES = _one_pattern(_REFUSALS)
"""Finds the refusal in a clause: lower case, half-width, in simplified characters, without quotations."""
