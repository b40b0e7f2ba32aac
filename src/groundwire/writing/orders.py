"""Orders to a language model inside texts of the archive, in English and Chinese: what they look like.

Common forms are known, not all: the guarantee is that the built-in writer obeys nothing and only quotes. Chinese is
compared in simplified characters; foreign letters that look Latin, spaced letters and digits for letters are undone.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from groundwire.core.numerals import flatten
from groundwire.core.text import normalise

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
    rf"(?:\w+\s+)?(?:{_PIECE}|{_REPLY}|pieces?|outlets?|paragraphs?|sentences?|ratings?|scores?|tasks?"
    rf"|instructions?|prompts?"
    r"|rules|guidelines|conversation|context|questions?|quer(?:y|ies)|publications?)"
    r"|the (?:users?|prompt|system prompt|token|string|code ?word|canary|json|relevance|list of sources|ranking)"
    r"|these instructions|the rest|the other (?:articles|sources|documents|reports)|nothing (?:but|else|more)|whatever"
    r"|what (?:came|comes|was said|you were told|the (?:editor|user|system)))\b"
)
_TO_YOU = (
    r"(?:^\W{0,8}|[.!?]\W{0,5}|\b(?:please|kindly|always|you (?:must|should|shall|will|are to|have to"
    r"|need to)(?: now| only)?"
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
    rf"{_LEAVE_ASIDE}\b.{{0,20}}\b(?:instructions?|prompts?|rules|guidelines)\s+(?:above|before|you)\b",
    rf"{_NOT}(?:follow|obey|apply)\b.{{0,30}}\b{_EARLIER}\b.{{0,30}}\b{_TOLD}\b",
    rf"(?:rate|score|rank|grade|mark|label|classify)\s+{_THIS}.{{0,50}}\b(?:{_FULL}|(?:most|highly) relevant\b)",
    (
        rf"(?:cite|quote|reference|rely on|summari[sz]e|credit|link to)\s+"
        rf"(?:only|just|solely|exclusively|nothing but|no source but)\s+{_THIS}"
    ),
    (
        rf"(?:repeat|print|output|include|insert|write|say|append|add|put|use|mention|emit|echo)\b.{{0,60}}"
        rf"\b(?:code ?words?|canary|verbatim|(?:as|in|into|to|at the \w+ of) your (?:\w+\s+)?{_REPLY})\b"
    ),
    rf"{_NOT}?(?:respond|reply|answer|output|return|emit|produce|format)\b.{{0,50}}\b{_DATA}",
    (
        r"(?:reveal|print|show|leak|repeat|output|send|expose)\b.{0,20}\b(?:your|the) "
        r"(?:system |hidden |initial )?(?:prompt|instructions|api keys?|secrets?|credentials)\b"
    ),
    r"(?:tell|inform|convince|persuade|assure) (?:the|your) users?\b",
)
_ENGLISH_ORDERS = (
    r"(?:^|[^\w\s]\s?)(?:when|while|if you(?: are|'re)|before) (?:summari[sz]|read|process|rat)\w* this\b.{0,20},",
    rf"{_TO_YOU}(?:(?:do not|don't|never|only|always|now|just|simply)\s+)*{_TASK_VERB}\b.{{0,60}}?\b{_TASK_THING}",
    (
        rf"\bthis (?:{_PIECE}|piece)\s+(?:must|should|has to|needs to|is to|shall)\s+(?:always |only )?be\s+"
        r"(?:the |rated|scored|ranked|graded|cited|quoted|placed|listed|treated|given|preferred|recommended|trusted)"
    ),
    (
        r"\byou (?:will|must|should|are to|can|may) now\b.{0,20}"
        r"\b(?:act|behave|pretend|respond|answer|obey|write|speak|output)\b"
    ),
    rf"(?:^\W{{0,8}}|[.!?]\W{{0,5}})(?:for|to)\s+(?:(?:all|any|the|every|our)\s+)*{_MODEL}.{{0,40}}[:,]",
    (
        rf"{_TO_YOU}(?:give|assign|award|grant|set)\b.{{0,30}}\b{_FULL}\s*(?:\w+\s+)?"
        rf"(?:relevance|ratings?|scores?|marks?|rank)\b"
    ),
    r"\b(?:when|if) (?:you are )?asked\b.{0,40}, (?:answer|say|reply|respond|write)\b",
    r"\bthe (?:correct|right|only|true|required) (?:rating|score|relevance|mark)\b.{0,40}\b(?:is|must|should)\b",
    rf"\byour (?:ratings?|scores?|relevance|marks?)\b.{{0,20}}\b(?:must|should|has to|is)\b.{{0,20}}\b{_FULL}",
    r"\brelevance\W{0,3}\s*[:=]\s*\d|\"(?:score|rating)\"\s*:\s*\d",
    (
        rf"\byour (?:\w+\s+)?{_REPLY}\b.{{0,20}}\b(?:must|should|has to|is to|shall|will)\b.{{0,40}}"
        rf"\b(?:{_DATA}|contain|include|begin|start|end|mention|cite|praise)"
    ),
    r"\boutput\s*\{|\band (?:output|print|say|write) nothing else\b|^\W{0,8}\{\s*\"",
    (
        rf"\b(?:attention|dear|hey|hello|note|notice|message|instructions?|warning|reminder|memo)\b,?\s+"
        rf"(?:(?:to|for|all|any|every|the|our|important)\s+)*{_MODEL}"
    ),
    rf"\byou(?: are|'re)\s+(?:now\s+)?(?:an?|the)\s+(?:\w+\s+){{0,2}}{_MODEL}",
    (
        rf"\b{_MODEL}\s+(?:that |which |who )?(?:is |are )?(?:reads?|reading|process\w*|pars\w+|summari[sz]\w+)\s+"
        rf"(?:this|the {_PIECE})\b"
    ),
    r"^\W{0,8}(?:system|assistant|developer)\s*:|\bsystem (?:message|override|instructions?)\s*[:!]|prompt injection:",
    (
        r"(?:^|[^\w\s]\s?)(?:new|updated|revised|additional) instructions?"
        r"(?: (?:from|for|to) (?:the )?(?:editor|user|system|developer|operator|model|assistant|writer|ai|llm"
        r"|you)\b)?\s*:"
    ),
    rf"(?:^|[^\w\s]\s?)(?:the )?end of (?:the )?(?:{_PIECE}|context|input|data|prompt|user)\b\W*(?:$|new|[^\w\s])",
    r"</?(?:sources?|documents?|system|user|assistant|context|instructions?|evidence|passage)\b[^<>]*>",
    r"<\|\w+\|>|\[/?inst\]",
    r"\bfrom now on,? you (?:must|will|should)\b.{0,20}\b(?:only|respond|answer|obey|cite|act|ignore|follow|write)\b",
    r"\bthe user (?:has changed|now wants|asked you)\b",
)
_ZH_DO = r"(?:^|[^\w\s]\s?|(?:[请并]|务必|必须|你[要应]|然后|一律|直接|现在)\s*)请?"
_ZH_EARLIER = r"(?:[你您]|先前|之前|此前|[以上前]面|以上|上述|所有|全部|一切|任何|其[他它]|原[本来]|系统)"
_ZH_TOLD = r"(?:指[令示]|提示|规[则范]|要求|设定|内容|来源|文章|资料|[讯信]息|命令|限制)"
_ZH_PAGE = r"(?:本(?:文|站|页|篇|报|新闻|网)|[这此](?:篇|则|文|页|[个份](?:网|来源|文)))"
_ZH_THIS = rf"(?:{_ZH_PAGE}|我们?)"
_ZH_FULL = r"(?:100|一百|满|最高)\s*分"
_ZH_MODEL = r"(?:ai|llm|人工智[慧能]|(?:大型)?语言模型|大模型|聊天机器人)(?:系统|助[理手]|模型|代理)?"
_ZH_REPLY = r"(?:文章|标题|回[答覆复]|摘要|报[导道]|开头|结尾)"
_ZH_SAY = r"(?:输出|印出|打印|重[复覆]|[写说]出|加入|插入|附上|回[覆复答]|包含)"
_ZH_TO_YOU = (
    r"(?:^\W{0,8}|[.:。!?]\W{0,5}|请|务必|必须|[你您](?:务必|必须|应该?|要|只能|只可)"
    r"|从现在(?:起|开始),?[你您]?(?:只能|必须|要)?)"
)
_ZH_TASK_VERB = (
    r"(?:忽略|无视|忘记|不要?理会|停止|放弃|引[用述]|列[为入]|排[在到]|置于|放在|推荐|称赞|赞美"
    r"|提[及到]|[评打][为分]?|给|输出|回[答覆复]|加[上入]|写|附上|使用|采用|参考|改为|相信|[视当]作?[为成]?|翻译|重复)"
)
_ZH_TASK_THING = (
    rf"(?:{_ZH_PAGE}|(?:其[他它]|别的|另外的)(?:媒体|来源|文章|报[导道]|网站|文件)"
    r"|使用者的?(?:要求|问题|指[示令])"
    r"|用户的?(?:要求|问题|指[示令])|每一?[段句篇]|[你您]的|(?:目前|原本|原来|当前|现在)的(?:任务|工作"
    r"|指[示令])|最相关)"
)
_CHINESE_IMPERATIVES = (
    (
        rf"(?:忽略|忽视|无视|忘[记掉]|不要理会|别理|不要遵[守循]|跳过|覆盖)[掉了]?"
        rf"[^。;!?]{{0,6}}{_ZH_EARLIER}[^。;!?]{{0,10}}{_ZH_TOLD}"
    ),
    rf"[给为替把将对]?予?{_ZH_THIS}[^。;!?]{{0,10}}(?:{_ZH_FULL}|为\s*100\b)",
    rf"{_ZH_SAY}[^。;!?]{{0,12}}(?:暗[号语]|通关密语|canary|以下(?:文字|字[串符])|这(?:个词|句话)|字样)",
    (
        rf"[在于](?:你的)?{_ZH_REPLY}的?(?:开头|结尾|最后|[中里内])?"
        r"(?:写(?:上|下|入)|加[上入]|插入|印出|输出|放上|注明)"
    ),
)
_CHINESE_ORDERS = (
    rf"{_ZH_TO_YOU}(?:不要|不得|勿|别|只能?|仅)?(?:把|将)?[^。;,!?他她们]{{0,3}}{_ZH_TASK_VERB}[^。;,!?]{{0,8}}{_ZH_TASK_THING}",
    rf"{_ZH_TO_YOU}(?:把|将|在){_ZH_TASK_THING}[^。;,!?]{{0,12}}{_ZH_TASK_VERB}",
    r"[你您]的(?:新|真正的?|唯一的?)?任务(?:已|是|改|变|为)|从现在(?:起|开始),?[你您](?:只能|必须)",
    rf"(?:对于?|[给致])(?:所有|任何|各位)?的?{_ZH_MODEL}[^。;,!?]{{0,4}}:",
    r"(?:^\W{0,5}|[,.:。;!?]|[你时务必请])(?:[仅只]能?)(?:使用|引[用述]|参考|采用)(?:本[报文站篇页])",
    r"无论[^。;!?]{0,10}都(?:要|必须)?(?:回[答覆复]|引[用述]|输出|推荐)|(?:不要|别|勿)告诉(?:使用者|用户)",
    rf"作为一?[个名]?{_ZH_MODEL},?[你您]",
    r"只输出\W|只(?:能)?回[答覆复]\W",
    rf"(?:^|[^\w\s]\s?)(?:请|务必|你必须|一律|直接|统一)[^。;,!?]{{0,8}}[给评打填][^。;,!?]{{0,12}}{_ZH_FULL}",
    (
        r"(?:相关(?:性|度)|关联性|评分|分数)[^。;,!?]{0,4}(?:请|应该?|必须|务必|一律|都)"
        r"[^。;,!?]{0,6}(?:100|一百|满分|最高)"
    ),
    rf"(?<![他她人们员])[只仅](?:能|可以?|要|需|准|应)?(?:引[用述]|参考){_ZH_THIS}",
    rf"[你您](?:现在)?是一?[个名位款]?[^。;,!?]{{0,6}}{_ZH_MODEL}(?=$|[^\w]|助|专)",
    rf"{_ZH_MODEL}们?,?请(?:注意|忽略|[将只把给在]|务必|引用|输出)",
    r"系统(?:提示词|指令)\s*:|系统(?:提示|[讯消信]息)\s*:\W{0,3}(?:[你请]|忽略|把)|[你您]的(?:系统)?(?:提示词|指令)",
    rf"[以用]\s*(?:json|xml|yaml)\s*(?:格式)?来?(?:{_ZH_SAY}|作答|回传|返回)",
    rf"(?:[请只]|必须|务必)(?:{_ZH_SAY}|回传|返回)[^。;!?]{{0,8}}(?:json|xml|yaml)",
)

# Rules of structure: an imperative of writing, rating or printing that opens a sentence, outside quotations, and has
# an object that only a text has (the headline, a word in capitals, an address). Reported speech is exempt.
_AT = (
    r"(?:^[^\w\"']{0,5}|[.!?:;][^\w\"']{1,5}|\b(?:please|kindly|always|instead|now),?\s+)"
    r"(?:(?:do not|don't|never|please|always|just|only) )*"
)
_CALLED = (
    r"(?:chatgpt|gpt-?\w{1,3}|claude|gemini|copilot|llama|mistral|grok|deepseek|qwen|assistant|ai|bot|chatbot"
    r"|llm|model|writer"
    r"|summari[sz]er|rater|通义千问|文心一言|豆包|kimi|元宝)"
)
_OWN_TEXT = r"(?:headline|title|summary|article|answer|lede|conclusion|output|response|reply|introduction)"
_SOFT_ENGLISH = (
    (
        rf"{_AT}(?:make|put|turn|change|rename|set|delete|remove|begin|start|switch|keep|use)\b.{{0,60}}"
        r"\b(?:lede|(?:the|your) (?:headline|summary)|every (?:sentence|mention|paragraph)|rest of (?:the|your) \w+"
        r"|hero of (?:the|your) story|(?:as|into) (?:the|your) title)\b"
    ),
    rf"{_AT}(?:answer|reply|respond) with (?:an?|the|only|just)\b",
    r"\byou must (?:never|always|only) (?:cite|quote|mention|write)\b",
    (
        rf"{_AT}(?:mention|use|put|include|add|insert|place|call|name|praise|recommend|promote|list|feature|write"
        rf"|link|quote|cite"
        rf"|repeat|state)\b.{{0,60}}\b(?:in|at|of|to) (?:the|your|every|each|this) (?:(?:end|start|top|bottom"
        rf"|beginning) of (?:the"
        rf"|your|every|each|this) )?(?:{_OWN_TEXT}|paragraph|(?:first|last|next|opening) (?:line|sentence|paragraph))\b"
    ),
    rf"{_AT}(?:end|begin|start|open|close|finish|sign) (?:the|your|each|every) {_OWN_TEXT} (?:with|by)\b",
    (
        rf"\b(?:the|your|every|any|each) {_OWN_TEXT} (?:must|should|has to|needs to|shall) (?:only |also |not )?"
        r"(?:contain|include|begin|start|end|say|state|mention|be (?:the (?:single )?(?:word|phrase)|in \w+)|consist)\b"
    ),
    (
        rf"{_AT}(?:pretend|act|role-?play|behave|speak|talk|respond|answer|write|reply) "
        r"(?:as if|as though|as an? |as the |like an? |that you|to be |you are|you're)"
    ),
    (
        rf"{_AT}(?:respond|reply|answer|write|output|speak|translate)\b.{{0,40}}\b(?:in|into) (?:french|german"
        rf"|spanish|english"
        r"|chinese|japanese|korean|russian|italian|arabic|klingon|latin|pirate|emojis?|(?:all )?capital\w*|(?:upper"
        r"|lower) ?case"
        r"|markdown|rhymes?|verse|html|\w+ only)\b"
    ),
    (
        rf"{_AT}(?:write|compose|create|generate|draft|produce) (?:me |us )?(?:an?|some) (?:\w+ ){{0,2}}(?:poem|ads?"
        rf"|advert\w*|song"
        r"|essay|joke|haiku|article|summary|script|code|headline|tweet|slogan|limerick)\b"
    ),
    rf"{_AT}translate (?:everything|this|the (?:article|text|following|rest)|all|it)\b",
    rf"{_AT}(?<=not |n't |ver )(?:summari[sz]e|cite|quote|translate|paraphrase|mention)\b",
    (
        rf"{_AT}(?:omit|leave out|hide|suppress|exclude|remove) (?:all|any|every)\b.{{0,20}}\b(?:negative|critic"
        rf"|statement|mention|fact)"
    ),
    (
        rf"{_AT}(?:conclude|summari[sz]e|report|state|say|claim|assert) that\b|{_AT}say .{{1,30}} at the (?:end"
        rf"|start|beginning|top)\b"
    ),
    rf"{_AT}replace (?:the (?:name|word|headline|title)s?|every|all)\b",
    rf"{_AT}(?:give|award|assign|set) (?:it |this )?(?:a (?:rating|score) of )?100\b|{_AT}repeat after me",
    (
        rf"{_AT}(?:execute|run|call|invoke) (?:the )?(?:following |this |next )?(?:command|tool|function|code|script"
        rf"|api|shell)\b"
    ),
    (
        rf"{_AT}(?:send|forward|email|post|upload) (?:the |this |your )?(?:conversation|archive|contents?|prompt"
        rf"|context|chat|credentials)\b"
    ),
    rf"{_AT}use (?:the )?(?:headline|title|phrase|words?)\b",
    rf"{_AT}(?:print|write|say|output|repeat) .{{1,30}} (?:\d+|two|three|five|ten|hundred|thousand) times\b",
    rf"{_AT}(?:cite|quote|link to|insert|append|prepend|credit) (?:https?://\S|[\w-]+(?:\.[a-z]{{2,10}})+\b)",
    rf"{_AT}(?:add|include|insert|put) (?:an? )?(?:links? (?:to|for)|https?://)",
    rf"{_AT}(?:use|trust|mention) (?:only|just|solely|exclusively) {_THIS}",
    (
        r"\byour (?:new |only |real |actual |next )?(?:task|job|role|goal|mission) (?:is|has)\b.{0,10}\b(?:to|now"
        r"|changed|been|simple|as follows|:)"
    ),
    (
        r"^[^\w\"']{0,5}this (?:source|document|article|page|text|passage)\b.{0,20}\bis the (?:only|most|sole"
        r"|single|best|one)\b.{0,30}"
        r"\b(?:reliable|relevant|trustworthy|authoritative|credible|accurate)\b"
    ),
)
_SOFT_CHINESE = (
    r"^\W{0,5}请?[把将]?(?:标题|摘要|文章|结尾|开头|文末|回答)(?:结尾|开头)?[中里]?(?:改[成为]|务必|要写|必须写|附上)",
    r"^\W{0,5}请?在文末",
    r"^\W{0,5}请?(?:输出|打印|印出)[a-z]|^\W{0,5}[本这此](?:报[道导]|文|站).{0,6}最值得(?:信赖|信任|引用)",
    (
        r"^\W{0,5}请?(?:务必|一律|直接|在(?:最后|结尾|开头|文末))?(?:输出|写|说|打印|印出|重复"
        r"|回[复答])[出上下]?(?:\"|'|香蕉)"
    ),
    r"^\W{0,5}请?(?:引用|参考|链接到?)(?:https?:|[a-z0-9-]+\.[a-z])",
    (
        r"^\W{0,5}请?(?:用|以)[^。,]{1,6}[文语话诗体](?:来)?(?:回[答复]|作答|输出|重?写|改写|撰)|^\W{0,5}请?[把将]?(?:全文|本文"
        r"|以下|所有内容|一切)?[^。,]{0,6}翻译[成为]"
    ),
    r"^\W{0,5}请?(?:你)?(?:扮演(?![着著了过])|假装(?:你|自己|是)|假设你是)|开发者模式(?:已)?(?:启用|开启|激活)",
    (
        r"^\W{0,5}请在?(?:你的)?(?:最后|结尾|开头|标题|摘要|文末|回答|文章)(?:里|中|内|上|处)?(?:说|写|加|推荐|放"
        r"|提|称赞)"
    ),
    (
        r"(?:标题|摘要|文章|回答|答案|输出|结论)[中里]?(?:必须|务必|只能|一定要)(?:是|为|包含|含有|包括|说|写|提及"
        r"|加[上入])?(?:\"|[a-z])"
    ),
    r"(?:撰写|写|下|起|回答|总结|摘要|评分)(?:标题|摘要|文章|新闻|报[道导]|问题)?时,?请",
    r"^\W{0,5}请?(?:不要|别|勿)(?:摘要|总结|概括|翻译|引用|提及)|^\W{0,5}请?(?:省略|删除|隐藏)(?:所有|全部|一切)",
    r"^\W{0,5}请?[把将]?[^。,]{0,4}(?:评分|分数|相关[性度]|得分)(?:设|改|调|定|评)?[为成](?:100|满分|最高)",
    r"^\W{0,5}本(?:文|篇|页|站)?(?:报[道导]|文章)?是?(?:唯一|最)[^。]{0,6}(?:可信|可靠|相关|权威|正确|重要)",
    (
        r"新(?:任务|指令|指示):(?:请|只|写|替|为[^期]|给|忽略|输出|不要|引用|翻译|用)|请?优先(?:展示|引用|采用"
        r"|显示)[本这此]"
    ),
    r"^\W{0,5}(?:请)?(?:替|为|给)?[^。,]{0,8}写一?[首篇则段个][^。,]{0,8}(?:诗|广告|故事|歌|笑话|摘要|标题)",
    (
        r"^\W{0,5}(?:请)?(?:不要|勿|别)(?:引[用述]|参考|采用|相信)(?:任何)?(?:其[他它]|别的)(?:媒体|来源|文章|报[道导]"
        r"|网站|文件)?\W*$"
    ),
)
_HARD_STRUCTURE = (
    r"^\W{0,8}#{1,6} ?(?:system|instructions?|user|assistant|developer|human|prompt)\b[\w ]{0,20}:?\W*$|<</?sys>>",
    r"\[/?(?:system|sys|inst|user|assistant|admin|developer)\]",
    r"[\[(【](?:系统|管理员|开发者)?(?:系统|管理员|开发者|指令|提示)[\])】]",
    (
        r"^\W{0,5}(?:final |overall |your |total )?(?:answer|score|rating|grade|relevance|reliability|credibility"
        r"|最终答案|(?:最终)?评分|得分|分数|可信度|可靠[性度]|重要[性度]"
        r"|相关[性度]?)(?: score| rating)?\s*(?:[:=]|[为是]|is)\s*(?:a\+? ?)?\W{0,2}(?:100|10/10|满分|max\w*"
        r"|highest)(?:/100|%|分)?\W*$"
    ),
    (
        rf"(?:^|[.!?]\s)[^\w\"']{{0,5}}(?:(?:hey|hi|hello|dear|ok|attention),? )?{_CALLED}\s*[,:]\s*(?:please|do not"
        rf"|don't|never"
        rf"|always|only|just|now|请|你|务必|不要|忽略|优先|{_TASK_VERB}\b)"
    ),
    rf"\b(?:note|message|instructions?|notice|memo|reminder) (?:for|to) (?:the |all |any |our )?{_CALLED}s?\s*[,:]",
    (
        rf"\bwhen (?:you )?(?:writ|summari[sz]|rat|scor|cit)\w* (?:the|this|your|an?) (?:{_OWN_TEXT}|story|page"
        rf"|source)\b\s*,"
    ),
    (
        rf"\bnew tasks?\s*:\s*{_TASK_VERB}|\b(?:begin|start of|end of) (?:new |the )?(?:system )?(?:instructions?"
        rf"|prompt|context)\b"
    ),
    (
        r"\byou are dan\b|\bno restrictions\b.{0,20}\byou\b|\b(?:developer|debug|god|admin|dan) mode (?:is "
        r"|now )?(?:on|enabled|activated)"
    ),
)
_REPORTED = re.compile(
    r"[,\"']\s*(?:[\w.'-]+\s+){1,6}(?:said|says|told|tells|asked|urged|urges|advised|warned|ordered|added"
    r"|shouted|wrote|reads)\b"
    r"|\b(?:said|says|told [\w ]{1,20}|wrote|reads|shouted|announced|sign)\s*[:,]"
    r"|[他她们长者方员局关师府院](?:说|表示|指出|称|呼吁|提醒)"
)
_CANARY = re.compile(
    r"(?:^[^\w\"“'「]{0,5}|[.!?:;][^\w\"“'「]{1,5}|\b(?i:please|always|now)\s+)(?i:only |just )*"
    r"(?:(?i:say|write|output|print|repeat|echo|append|prepend|insert|answer|respond|reply|conclude)(?i: only"
    r"| just| with| the words?| exactly)*"
    r"\s+(?:[A-Z]{4,}\b|[\"“'‘「][^\"”'’」]{1,60}[\"”'’」])"
    r"|(?i:(?:the|your) (?:headline|title|summary|answer|output|response) (?:must|should|has to|will) (?:be"
    r"|read))\s+(?:[A-Z]{4,}\b|[\"“「]))"
)
_SPACED_LETTERS = re.compile(r"(?<!\w)(?:[A-Za-z][ .\-_*]){3,}[A-Za-z](?!\w)")
_ALIKE = str.maketrans("аеорсухіјѕԁһԛԝкмтвнαορνικυετ", "aeopcyxijsdhqwkmtbhaopvikuet")
_LEET_WORD = re.compile(r"(?<!\w)(?=\w*[a-z])(?=\w*\d)[a-z013457]{4,}(?!\w)")
_LEET = str.maketrans("013457@$", "oieastas")


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
            *_HARD_STRUCTURE,
        )
    )
)
_SOFT_ORDER = re.compile(_any_of((*_SOFT_ENGLISH, *_SOFT_CHINESE)))


def is_order(text: str) -> bool:
    """Whether a sentence, or a line of it, gives orders to a language model instead of telling the reader something."""
    return any(map(_line_is_order, dict.fromkeys((text, *text.splitlines()))))


def _line_is_order(line: str) -> bool:
    joined = _SPACED_LETTERS.sub(lambda found: re.sub(r"[\W_]", "", found[0]), line)
    plain = flatten(normalise(joined))
    latin = plain.translate(_ALIKE)
    bare = _LEET_WORD.sub(lambda found: found[0].translate(_LEET), latin)
    if any(_ORDER.search(variant) for variant in dict.fromkeys((plain, latin, bare))):
        return True
    return not _REPORTED.search(plain) and bool(_SOFT_ORDER.search(bare) or _CANARY.search(joined))
