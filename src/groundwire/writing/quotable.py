"""Which sentences of a document may stand in an article: not its furniture, and not orders to a machine.

A story often ends in links to other stories or in somebody else's reference list, has by-lines and headings that are
no sentences, and some texts carry orders meant for a language model. All stay in the archive, untouched and
searchable; none is ever quoted. The lists below name what such text looks like in English and Chinese; they cannot
name everything, so what stands beside an order in its paragraph is left out with it. They hold common forms of orders,
not all: the guarantee that no order is obeyed is that the built-in writer obeys nothing and only quotes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from groundwire.core.text import normalise
from groundwire.core.types import Sentence

BESIDE_AN_ORDER = 2
"""This many sentences before and after an order, in the same paragraph, are left out with it."""

_LINKS = (
    (
        r"(?:related|more|other|top|latest|trending|popular|recommended)\s+(?:stories|articles|news|coverage|content|links|"
        r"reading|posts|videos)|further reading|you (?:may|might) also (?:like|enjoy)"
        r"|recommended for you|editor'?s picks"
    ),
    r"延伸閱讀|延伸阅读|推薦閱讀|推荐阅读|相關閱讀|相关阅读|同場加映|猜你喜歡|猜你喜欢|看更多|編輯推薦|编辑推荐",
    r"(?:相關|相关|更多|其他|其它|熱門|热门|推薦|推荐)(?:新聞|報導|文章|連結|內容|新闻|报道|报导|链接|内容)",
    r"你可能(?:也|還|还)?(?:會|会)?(?:喜歡|喜欢|想看|感興趣|感兴趣)",
)
_REFERENCES = (
    r"references?(?: list)?|bibliography|works cited|citations|footnotes|end ?notes|external links|sources",
    r"(?:參考|参考)(?:資料|文獻|書目|资料|文献|书目)|(?:資料|资料)(?:來源|来源)|引用(?:文獻|文献)|註釋|注釋|注释",
)
_PASSING = (
    r"(?:also )?read (?:more|next|also|on)|also read|more (?:from|on this)\b.{0,40}|see also|most (?:read|popular)",
    r"related|recommended|what to read next|more like this|keep reading|don't miss|in other news",
)
_HEADING_START, _HEADING_END = r"[\s#>*_\-=~◎●▲▼◆■※►▶【〔\[(（《]*", r"[\s:：】〕\])）》*_\-=~\d]*"
_TAIL_HEADING = re.compile(
    rf"{_HEADING_START}(?:{'|'.join(_LINKS + _REFERENCES)}){_HEADING_END}", re.IGNORECASE
)  # fmt: skip
_PASSING_HEADING = re.compile(rf"{_HEADING_START}(?:{'|'.join(_PASSING)}){_HEADING_END}", re.IGNORECASE)
_LINK_LINE = re.compile(
    rf"{_HEADING_START}(?:{'|'.join(_LINKS + _PASSING)})[】〕\])）》*_\s]*[:：|｜►▶→]", re.IGNORECASE
)  # fmt: skip
_HEADING_CHARACTERS = 60
_CREDIT = re.compile(
    r"\W*(?:(?:additional |further )?(?:reporting|editing|writing|compiled|translated|photographs?) by\b|©|copyright\b"
    r"|all rights reserved|(?:subscribe|sign up|follow us|click here)\b.{0,60}\b(?:newsletter|app|here|alerts|updates|"
    r"channel|facebook|twitter|telegram|whatsapp)\b)|.{0,80}\ball rights reserved\b",
    re.IGNORECASE,
)
_ENDED = re.compile(r"[.!?。！？…][\s\"'”’」』）)\]】》]*(?:\[\d{1,3}\])*$")
_HIDDEN = re.compile(
    r"<!--.*?(?:-->|\Z)|```.*?(?:```|\n[^\S\n]*\r?\n|\Z)|~~~.*?(?:~~~|\n[^\S\n]*\r?\n|\Z)"
    r"|<(script|style|template|noscript|iframe|svg)\b.*?(?:</\1\s*>|\Z)|<(?:img|meta|input|link|embed)\b[^<>]*>"
    r"|<(\w{1,20})\b[^<>]{0,400}(?:\bhidden\b|display\s*:\s*none|visibility\s*:\s*hidden|opacity\s*:\s*0\b"
    r"|font-size\s*:\s*[01](?:px|pt)?\b|[^-]color\s*:\s*(?:white|transparent|#fff(?:fff)?\b))[^<>]*>.*?(?:</\2\s*>|\Z)"
    r"|!\[[^\]\n]{0,300}\]\([^)\n]{0,300}\)|^\[[^\]\n]{0,300}\]:\s*#.*?$",
    re.DOTALL | re.IGNORECASE | re.MULTILINE,
)

# An order stands where an imperative can stand: "the mayor told people not to ignore the instructions" is news.
_DO = (
    r"(?:^|[^\w\s']\s*|(?<!\w)'|\b(?:please|kindly|always|only|simply|just|then|now|and|must"
    r"|you (?:should|shall|will|are to|have to|need to))\s+)"
)
_NOT = r"(?:(?:do not|don't|never)\s+)"
_LEAVE_ASIDE = (
    r"(?:ignore|disregard|forget|override|overlook|bypass|discard|skip|set aside|pay no attention to|stop following)"
)
_EARLIER = (
    r"(?:your|all|any|every|previous|prior|above|earlier|preceding|foregoing|existing|original|initial|other|system|"
    r"these|those|developer|safety)"
)
_TOLD = (
    r"(?:instructions?|prompts?|rules?|guidelines?|directions?|directives?|orders|constraints?|safeguards?|training"
    r"|messages?)"
)
_PIECE = (
    r"(?:articles?|documents?|sources?|texts?|pages?|stor(?:y|ies)|passages?|posts?|reports?|newsletters?|websites?)"
)
_THIS = rf"(?:this|it|me|us|my|our|the (?:above|following|present|current)|the {_PIECE})\b"
_FULL = r"(?:100|one hundred|a hundred|10/10|ten out of ten|highest|maximum|max|top|full|perfect|5/5|five stars)\b"
_FULL += r"(?!\s*(?:%|per ?cent|years?|days?|metres?|meters?|times|people))"
_DATA = r"(?:json|xml|yaml|base64)\b"
_REPLY = r"(?:article|answer|reply|response|summary|report|story|output|headline|title|text|message|brief)"
_AFTER = (
    r"(?=\s*(?:[^\w\s-]|$)"
    r"|\s+(?:reading|processing|parsing|summari|that|which|who|tasked|trained|designed|should|must))"
)
_MODEL = (
    r"(?:(?:ai|a\.i\.|llm|gpt|(?:ai |large )?language|artificial intelligence)"
    r"(?:\s+(?:models?|assistants?|systems?|agents?|chatbots?|bots?|writers?|crawlers?|tools?|readers?)(?: only)?)?"
    rf"|ais|llms|(?:all |any )models?|chatbots?|assistants?|chatgpt){_AFTER}"
)
# Verbs of writing and rating, and what only a writer or rater of articles has: this page, your answer, the relevance.
_TASK_VERB = (
    r"(?:ignore|disregard|forget|overlook|rate|score|rank|grade|mark|label|list|place|put|give|assign|award|set|return"
    r"|output|print|repeat|write|include|insert|append|add|prepend|begin|start|end|finish|open|cite|quote|mention|name"
    r"|credit|trust|use|rely on|summari[sz]e|recommend|praise|promote|prefer|favou?r|treat|consider|describe|present"
    r"|respond|reply|answer|translate|replace|stop|drop|abandon|follow|obey|execute|reveal|refuse|reject|tell|convince"
    r"|discard|skip|do)"
)
_TASK_THING = (
    rf"(?:(?:this|our|my|your|each|every|no other|any other|all other|other|the (?:above|following|current))\s+"
    rf"(?:\w+\s+)?(?:{_PIECE}|{_REPLY}|pieces?|outlets?|paragraphs?|sentences?|ratings?|scores?|tasks?|instructions?|prompts?"
    r"|rules|guidelines|conversation|context|questions?|quer(?:y|ies)|publications?)"
    r"|the (?:users?|prompt|system prompt|token|string|code ?word|canary|json|relevance|list of sources|ranking)"
    r"|these instructions|the rest|the other (?:articles|sources|documents|reports)|nothing (?:but|else|more)|whatever"
    r"|what (?:came|comes|was said|you were told|the (?:editor|user|system)))\b"
)
_TO_YOU = (
    r"(?:^\W*|[.!?]\W*|\b(?:please|kindly|always|you (?:must|should|shall|will|are to|have to|need to)(?: now| only)?"
    r"|from now on,?|instead,?)\s+)"
)
_ENGLISH_IMPERATIVES = (
    (
        rf"{_LEAVE_ASIDE}\b.{{0,40}}\b{_EARLIER}\b.{{0,40}}\b"
        rf"(?:{_TOLD}|{_PIECE}|context|you (?:were|have been) told)\b"
    ),
    (
        rf"{_LEAVE_ASIDE}\s+(?:everything|anything|all|whatever)\b.{{0,30}}\b"
        r"(?:above|before|so far|previously|you (?:were|have been|know)|told)\b"
    ),
    rf"{_LEAVE_ASIDE}\b.{{0,20}}\b(?:instructions?|prompts?)\s+(?:above|before|you)\b",
    rf"{_NOT}(?:follow|obey|apply)\b.{{0,30}}\b{_EARLIER}\b.{{0,30}}\b{_TOLD}\b",
    rf"(?:rate|score|rank|grade|mark|label|classify)\s+{_THIS}.{{0,50}}\b(?:{_FULL}|(?:most|highly) relevant\b)",
    rf"(?:give|assign|award|grant)\s+(?:this|it|(?:the|my|our) {_PIECE})\b.{{0,40}}\b{_FULL}",
    (
        rf"(?:give|assign|award|grant|set|return|output|make)\b.{{0,40}}\b(?:ratings?|scores?|marks?|relevance)\b"
        rf".{{0,20}}\b{_FULL}"
    ),
    (
        rf"(?:cite|quote|use|mention|reference|trust|rely on|summari[sz]e|credit|link to)\s+"
        rf"(?:only|just|solely|exclusively|nothing but|no source but)\s+{_THIS}"
    ),
    (
        rf"(?:cite|quote|reference|credit)\s+{_THIS}.{{0,20}}"
        r"\b(?:only|alone|first|exclusively|always|instead|everywhere|as (?:the|your) (?:only|sole|main))\b"
    ),
    rf"(?:treat|regard|consider|dismiss)\s+(?:all |any |the |every )*other {_PIECE}\b",
    rf"(?:begin|start|end|finish|open|close|preface|conclude)\s+(?:your|each|every)\s+(?:\w+\s+)?{_REPLY}\b",
    (
        rf"(?:repeat|print|output|include|insert|write|say|append|add|put|use|mention|emit|echo)\b.{{0,60}}"
        rf"\b(?:code ?words?|canary|verbatim|(?:as|in|into|to|at the \w+ of) your (?:\w+\s+)?{_REPLY})\b"
    ),
    (
        r"(?:repeat|print|output|include|insert|write|say|append|add|emit|echo)\s+(?:only\s+)?the\s+"
        r"(?:exact |following |secret |single )?(?:words?|phrase|string|token|sentence|text)"
        r"\s*(?:[\"'“‘「:]|[a-z]+-?\d)"
    ),
    rf"{_NOT}?(?:respond|reply|answer|output|return|emit|produce|format)\b.{{0,50}}\b{_DATA}",
    (
        r"(?:reveal|print|show|leak|repeat|output|send|expose)\b.{0,20}\b(?:your|the) "
        r"(?:system |hidden |initial )?(?:prompt|instructions|api keys?|secrets?|credentials)\b"
    ),
    r"(?:tell|inform|convince|persuade|assure) (?:the|your) users?\b",
)
_ENGLISH_ORDERS = (
    rf"{_TO_YOU}(?:(?:do not|don't|never|only|always|now|just|simply)\s+)*{_TASK_VERB}\b.{{0,60}}?\b{_TASK_THING}",
    (
        rf"\bthis (?:{_PIECE}|piece)\s+(?:must|should|has to|needs to|is to|shall)\s+(?:always |only )?be\s+"
        r"(?:the |rated|scored|ranked|graded|cited|quoted|placed|listed|treated|given|preferred|recommended|trusted)"
    ),
    (
        r"\byour (?:new |only |real |actual |next )?(?:task|job|role|goal|instructions?|mission) (?:is|are|has|have)\b"
        r".{0,10}\b(?:to|now|changed|been|simple|as follows|:)"
    ),
    (
        r"\byou (?:will|must|should|are to|can|may) now\b.{0,20}"
        r"\b(?:act|behave|pretend|respond|answer|obey|write|speak|output)\b"
    ),
    rf"(?:^\W*|[.!?]\W*)(?:for|to)\s+(?:(?:all|any|the|every|our)\s+)*{_MODEL}.{{0,40}}[:,]",
    r"(?:^\W*|[.!?]\W*)(?:ai|llm|bot|chatbot|model|assistant|crawler)s?\s+(?:instructions?|orders?|only|notice)\s*:",
    (
        rf"{_TO_YOU}(?:give|assign|award|grant|set)\b.{{0,30}}\b{_FULL}\s*(?:\w+\s+)?"
        rf"(?:relevance|ratings?|scores?|marks?|rank)\b"
    ),
    r"\band (?:respond|reply|answer) (?:only )?with\b",
    r"\b(?:when|if) (?:you are )?asked\b.{0,40}, (?:answer|say|reply|respond|write)\b",
    r"\bthe (?:correct|right|only|true|required) (?:rating|score|relevance|mark)\b.{0,40}\b(?:is|must|should)\b",
    rf"\byour (?:ratings?|scores?|relevance|marks?)\b.{{0,20}}\b(?:must|should|has to|is)\b.{{0,20}}\b{_FULL}",
    r"\brelevance\W{0,3}\s*[:=]\s*\d|\"(?:score|rating)\"\s*:\s*\d",
    (
        r"(?:^|[^\w\s]\s*)(?:when|while|if you are|if you're|before)\s+(?:you\s+)?"
        rf"(?:summari[sz]|read|rat|scor|cit|quot|process)\w*\s+this(?: {_PIECE})?\b\s*,"
    ),
    rf"\b{_NOT}(?:cite|quote|use|mention|trust|reference|rely on)\b.{{0,20}}\bother {_PIECE}\b",
    (
        rf"\byour (?:\w+\s+)?{_REPLY}\b.{{0,20}}\b(?:must|should|has to|is to|shall|will)\b.{{0,40}}"
        rf"\b(?:{_DATA}|contain|include|begin|start|end|mention|cite|praise)"
    ),
    r"\boutput\s*\{|\band (?:output|print|say|write) nothing else\b|^\W*\{\s*\"",
    (
        rf"\b(?:attention|dear|hey|hello|note|notice|message|instructions?|warning|reminder|memo)\b,?\s+"
        rf"(?:(?:to|for|all|any|every|the|our|important)\s+)*{_MODEL}"
    ),
    rf"\byou(?: are|'re)\s+(?:now\s+)?(?:an?|the)\s+(?:\w+\s+){{0,2}}{_MODEL}",
    rf"\bas an?\s+{_MODEL}\s*,?\s*(?:you|your)\b",
    (
        rf"\b{_MODEL}\s+(?:that |which |who )?(?:is |are )?(?:reads?|reading|process\w*|pars\w+|summari[sz]\w+)\s+"
        rf"(?:this|the {_PIECE})\b"
    ),
    r"^\W*(?:system|assistant|developer)\s*:|\bsystem (?:message|override|instructions?)\s*[:!]|\bprompt injection\s*:",
    r"(?:^|[^\w\s]\s*)(?:new|updated|revised|additional) instructions?\b.{0,40}:",
    rf"(?:^|[^\w\s]\s*)(?:the )?end of (?:the )?(?:{_PIECE}|context|input|data|prompt|user)\b\W*(?:$|new|[^\w\s])",
    r"</?(?:sources?|documents?|system|user|assistant|context|instructions?|evidence|passage)\b[^<>]*>",
    r"<\|\w+\|>|\[/?inst\]",
    r"\bfrom now on,? you (?:must|will|should)\b.{0,20}\b(?:only|respond|answer|obey|cite|act|ignore|follow|write)\b",
    r"\bthe user (?:has changed|now wants|asked you)\b",
)
_ZH_DO = r"(?:^|[^\w\s]\s*|(?:[請请並并]|[務务]必|必[須须]|你[要應应]|然[後后]|一律|直接|[現现]在)\s*)[請请]?"
_ZH_EARLIER = r"(?:[你您]|先前|之前|此前|[以上前]面|以上|上述|所有|全部|一切|任何|其[他它]|原[本來来]|系[統统])"
_ZH_TOLD = r"(?:指[令示]|提示|[規规][則则範范]|要求|[設设]定|[內内]容|[來来]源|文章|[資资]料|[訊信]息|命令|限制)"
_ZH_PAGE = (
    r"(?:本(?:文|站|[頁页]|篇|[報报]|新[聞闻]|[網网])|[這这此](?:篇|[則则]|文|[頁页]|[個个份](?:[網网]|[來来]源|文)))"
)
_ZH_THIS = rf"(?:{_ZH_PAGE}|我[們们]?)"
_ZH_FULL = r"(?:100|一百|[滿满]|最高)\s*分"
_ZH_MODEL = r"(?:ai|llm|人工智[慧能]|(?:大型)?[語语]言模型|大模型|聊天[機机]器人)(?:系[統统]|助[理手]|模型|代理)?"
_ZH_REPLY = r"(?:文章|[標标][題题]|回[答覆复]|摘要|[報报][導道导]|[開开][頭头]|[結结]尾)"
_ZH_SAY = r"(?:[輸输]出|印出|打印|重[複复覆]|[寫写說说]出|加入|插入|附上|回[覆复答]|包含)"
_ZH_TO_YOU = (
    r"(?:^\W*|[.:。!?]\W*|[請请]|[務务]必|必[須须]|[你您](?:[務务]必|必[須须]|[應应][該该]?|要|只能|只可)"
    r"|[從从][現现]在(?:起|[開开]始),?[你您]?(?:只能|必[須须]|要)?)"
)
_ZH_TASK_VERB = (
    r"(?:忽略|[無无][視视]|忘[記记]|不要?理[會会]|停止|放[棄弃]|引[用述]|列[為为入]|排[在到]|置於|放在|推[薦荐]|[稱称][讚赞]|[讚赞]美"
    r"|提[及到]|[評评打][為为分]?|[給给]|[輸输]出|回[答覆复]|加[上入]|[寫写]|附上|使用|[採采]用|[參参]考|改[為为]|相信|[視视當当]作?[為为成]?|翻[譯译]|重[複复])"
)
_ZH_TASK_THING = (
    rf"(?:{_ZH_PAGE}|(?:其[他它]|[別别]的|另外的)(?:媒[體体]|[來来]源|文章|[報报][導道导]|[網网]站|文件)"
    r"|使用者的?(?:要求|[問问][題题]|指[示令])"
    r"|用[戶户]的?(?:要求|[問问][題题]|指[示令])|每一?[段句篇]|[你您]的|(?:目前|原本|原[來来]|[當当]前|[現现]在)的(?:任[務务]|工作|指[示令])|最相[關关])"
)
_CHINESE_IMPERATIVES = (
    (
        rf"(?:忽略|忽[視视]|[無无][視视]|忘[記记掉]|不要理[會会]|[別别]理|不要遵[守循]|跳[過过]|覆[蓋盖])[掉了]?"
        rf"[^。;!?]{{0,6}}{_ZH_EARLIER}[^。;!?]{{0,10}}{_ZH_TOLD}"
    ),
    rf"[給给為为替把將将對对]?予?{_ZH_THIS}[^。;!?]{{0,10}}(?:{_ZH_FULL}|[為为]\s*100\b)",
    r"(?:不[要得可]|勿|[別别])(?:引[用述]|[參参]考|[採采]用|相信)(?:任何)?(?:其[他它]|[別别]的)",
    rf"{_ZH_SAY}[^。;!?]{{0,12}}(?:暗[號号語语]|通[關关]密[語语]|canary|以下(?:文字|字[串符])|[這这](?:[個个][詞词]|句[話话])|字[樣样])",
    (
        rf"[在於于](?:你的)?{_ZH_REPLY}的?(?:[開开][頭头]|[結结]尾|最[後后]|[中裡里內内])?"
        r"(?:[寫写](?:上|下|入)|加[上入]|插入|印出|[輸输]出|放上|[註注]明)"
    ),
)
_CHINESE_ORDERS = (
    rf"{_ZH_TO_YOU}(?:不要|不得|勿|[別别]|只能?|[僅仅])?(?:把|[將将])?[^。;,!?]{{0,3}}{_ZH_TASK_VERB}[^。;,!?]{{0,8}}{_ZH_TASK_THING}",
    rf"{_ZH_TO_YOU}(?:把|[將将]|在){_ZH_TASK_THING}[^。;,!?]{{0,12}}{_ZH_TASK_VERB}",
    r"[你您]的(?:新|真正的?|唯一的?)?任[務务](?:已|是|改|[變变]|[為为])|[從从][現现]在(?:起|[開开]始),?[你您](?:只能|必[須须])",
    rf"(?:[對对]於?|[給给致])(?:所有|任何|各位)?的?{_ZH_MODEL}[^。;,!?]{{0,4}}:",
    r"(?:[僅仅只]能?)(?:使用|引[用述]|[參参]考|[採采]用)(?:本[報报文站篇頁页])",
    r"(?:不要|不得|勿|[別别])(?:再)?(?:提[及到]|引[用述])(?:任何)?(?:其[他它]|[別别]的)(?:媒[體体]|[來来]源|文章|[報报])",
    r"[無无][論论][^。;!?]{0,10}都(?:要|必[須须])?(?:回[答覆复]|引[用述]|[輸输]出|推[薦荐])|(?:不要|[別别]|勿)告[訴诉](?:使用者|用[戶户])",
    rf"作[為为]一?[個个名]?{_ZH_MODEL},?[你您]",
    r"只[輸输]出\W|只(?:能)?回[答覆复]\W",
    rf"(?:^|[^\w\s]\s*)(?:[請请]|[務务]必|你必[須须]|一律|直接|[統统]一)[^。;,!?]{{0,8}}[給给評评打填][^。;,!?]{{0,12}}{_ZH_FULL}",
    (
        r"(?:相[關关](?:性|度)|[關关][聯联]性|[評评]分|分[數数])[^。;,!?]{0,4}(?:[請请]|[應应][該该]?|必[須须]|[務务]必|一律|都)"
        r"[^。;,!?]{0,6}(?:100|一百|[滿满]分|最高)"
    ),
    rf"[只僅仅](?:能|可以?|要|需|准|[應应])?(?:引[用述]|[參参]考){_ZH_THIS}",
    rf"[你您](?:[現现]在)?是一?[個个名位款]?[^。;,!?]{{0,6}}{_ZH_MODEL}(?=$|[^\w]|助|[專专])",
    rf"(?:[給给致]|提醒|告知)(?:所有|任何|各位|[閱阅][讀读])?的?{_ZH_MODEL}的?(?:[訊消信]息|指[示令]|提醒|[說说]明|注意|:|,|$)",
    rf"{_ZH_MODEL}[們们]?,?[請请](?:注意|忽略|[將将只把給给在]|[務务]必|引用|[輸输]出)",
    r"系[統统](?:提示[詞词]?|指令|[訊消]息)\s*:|[你您]的(?:系[統统])?(?:提示[詞词]|指令)",
    rf"[以用]\s*(?:json|xml|yaml)\s*(?:格式)?[來来]?(?:{_ZH_SAY}|作答|回[傳传]|返回)",
    rf"(?:[請请只]|必[須须]|[務务]必)(?:{_ZH_SAY}|回[傳传]|返回)[^。;!?]{{0,8}}(?:json|xml|yaml)",
)


def _any_of(patterns: Sequence[str]) -> str:
    return "(?:" + "|".join(patterns) + ")"


# The place of an imperative is looked for once for all of them: tried again for each, it took ten times as long.
_ORDER = re.compile(
    _any_of(
        (
            _DO + _any_of(_ENGLISH_IMPERATIVES),
            *_ENGLISH_ORDERS,
            _ZH_DO + _any_of(_CHINESE_IMPERATIVES),
            *_CHINESE_ORDERS,
        )
    )
)


def quotable(text: str, sentences: Sequence[Sentence]) -> tuple[tuple[Sentence, ...], tuple[str, ...]]:
    """Divide the sentences of a document.

    Args:
        text: the document's text.
        sentences: sentences of this document, in source order.

    Returns:
        The sentences that may be quoted, in source order, and a note for each kind that may not.
    """
    hidden = _covered(text, (found.span() for found in _HIDDEN.finditer(text)))
    furniture = _covered(text, _furniture(text))
    orders = _orders(text, sentences)
    kept: list[Sentence] = []
    counts = dict.fromkeys(
        (
            "furniture around the story",
            "hidden markup",
            "orders to a model",
            "beside such orders",
            "headings and by-lines",
        ),
        0,
    )
    for place, sentence in enumerate(sentences):
        if any(furniture[sentence.start : sentence.end]):
            counts["furniture around the story"] += 1
        elif any(hidden[sentence.start : sentence.end]):
            counts["hidden markup"] += 1
        elif place in orders:
            counts["orders to a model" if is_order(sentence.text) else "beside such orders"] += 1
        elif not _ENDED.search(sentence.text) or _CREDIT.match(sentence.text):
            counts["headings and by-lines"] += 1
        else:
            kept.append(sentence)
    return tuple(kept), tuple(f"{count} sentence(s) left out: {kind}" for kind, count in counts.items() if count)


def is_order(text: str) -> bool:
    """Whether a sentence, or a line of it, gives orders to a language model instead of telling the reader something."""
    return any(_ORDER.search(normalise(part)) for part in dict.fromkeys((text, *text.splitlines())))


def _covered(text: str, spans: Iterable[tuple[int, int]]) -> bytearray:
    """For each character whether a span holds it."""
    covered = bytearray(len(text))
    for start, end in spans:
        covered[start:end] = b"\1" * (end - start)
    return covered


def _orders(text: str, sentences: Sequence[Sentence]) -> set[int]:
    """Places of the orders and of what stands beside them in the same paragraph."""
    found = set()
    for place, sentence in enumerate(sentences):
        if not is_order(sentence.text):
            continue
        for near in range(max(0, place - BESIDE_AN_ORDER), min(len(sentences), place + BESIDE_AN_ORDER + 1)):
            first, last = sorted((sentence, sentences[near]), key=lambda one: one.start)
            if near == place or not any(mark in text[first.end : last.start] for mark in "\r\n"):
                found.add(near)
    return found


def _furniture(text: str) -> Iterator[tuple[int, int]]:
    """Spans of link lines, of link boxes inside the story, and of all that follows the heading of a tail.

    Links to other stories and references end the story wherever their heading stands after its first sentence.
    "Read more" and the like also stand inside stories: in the first third they are a box, up to the next line that is
    a sentence.
    """
    offset, box, begun = 0, False, False
    for line in text.splitlines(keepends=True):
        start, offset = offset, offset + len(line)
        content = line.strip()
        ended = _ENDED.search(content) is not None
        heading = len(content) < _HEADING_CHARACTERS
        passing = heading and _PASSING_HEADING.fullmatch(content) is not None
        late = passing and start >= len(text) / 3
        if begun and (late or (heading and _TAIL_HEADING.fullmatch(content))):
            yield start, len(text)
            return
        box = passing or (box and not ended)
        if box or _LINK_LINE.match(content):
            yield start, offset
        begun = begun or ended
