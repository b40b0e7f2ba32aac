"""What an outlet prints with every story: credits of pictures, consent to cookies, invitations, rights.

Such a sentence is true, well written and about nothing that anybody searches for; it is never quoted. The forms below
are common ones in English and Chinese news, not all there are. Each begins a sentence, so that a report about cookies
or newsletters is not taken for a notice.
"""

from __future__ import annotations

import re

from groundwire.core.numerals import flatten

_MOST_CHARACTERS = 300
"""A longer sentence says something else, too."""
_PLACES = (
    r"(?:newsletters?|inbox|apps?|alerts|updates|channel|podcast|facebook|twitter|instagram|telegram|whatsapp|youtube|"
    r"linkedin|tiktok|mailing list|community|e-?mail address)\b"
)
_CREDITS = re.compile(
    r"\W*(?i:(?:ap|afp|reuters|epa|file|handout|stock|cover|lead|top)\s)?"
    r"(?i:photos?|images?|pictures?|photographs?|illustrations?|graphics?|credits?)(?i:\scredits?)?\s?"
    r"(?:[:/]\s?[^.!?]{1,80}|(?i:by|courtesy of|via)\s(?:[A-Z][\w.’'&/-]*[\s,]{0,2}|(?:and|of|for|the)\s)+)\W*"
    r"|\W*(?i:(?:additional |further )?(?:reporting|editing|writing|compiled|translated) by\b|©|copyright\b"
    r"|with (?:files|reporting|additional reporting) from\b).*"
)
_INVITATIONS = re.compile(
    r"\W*(?:please )?(?:"
    rf"(?:subscribe|sign up|sign in|log in|register|follow|click|tap|download|join (?:us|our|the)|enter your)"
    rf"\b.{{0,80}}\b(?:{_PLACES}|here\b|us\b|subscribe\b)"
    rf"|get (?:the|our|your|all|more|breaking|daily)\b.{{0,80}}\b{_PLACES}"
    r"|(?:like|follow|visit|email|e-mail|contact|call|write to) us\b"
    r"|(?:click|tap|scroll(?: down)?) (?:here |below )?(?:to|for)\b"
    r"|share (?:this|on)\b|support (?:independent|our|quality|local)\b.{0,30}\bjournalism\b"
    r"|(?:become|already|not(?: yet)?) a (?:member|subscriber)\b"
    r"|(?:subscribe|log in|sign in|register)(?: (?:now|today))?\W*\Z"
    r"|have (?:a|any) (?:news )?(?:tips?|stor(?:y|ies)|questions?|corrections?)\b.{0,60}\?|got a (?:tip|story)\b"
    r"|thank(?:s| you) for (?:reading|subscribing|your support)"
    r")",
    re.IGNORECASE,
)
_TERMS = re.compile(
    r"\W*(?:we (?:and our (?:\w+ )?partners )?use cookies|(?:this|our) (?:web ?)?site uses cookies"
    r"|by (?:continuing|using|clicking|signing up|subscribing|browsing|registering)\b.{0,80}"
    r"\byou (?:agree|accept|consent)"
    r"|this (?:material|content|article|story|piece|report) (?:may not be|is (?:copyright|protected)"
    r"|(?:was|is|has been) (?:first |originally )?(?:re)?published (?:by|in|on|with|from|under|here))"
    r"|(?:the )?(?:views|opinions) expressed\b|comments (?:are|have been) (?:closed|disabled|moderated)"
    r"|(?:last )?(?:updated|modified) (?:on|at)\b.{0,40}\Z|last (?:updated|modified)\b"
    r"|\d{1,2}[ -]min(?:ute)?s?[ -]read\b"
    r"|(?:story|article) continues (?:below|after)|advertisements?\W*\Z"
    r"|if you (?:buy|purchase|click)\b.{0,60}\b(?:links?|commission)|we may (?:earn|receive)\b.{0,40}\bcommission"
    r"|(?:the )?[\w’' ]{2,40} is an independent (?:global )?(?:news|media) (?:agency|organi[sz]ation|service|outlet)\b"
    r"|(?:terms under which|learn more about our|privacy policy\W*\Z|to (?:continue|keep) reading\b)"
    r"|this (?:article|story|content) is (?:only )?(?:available )?(?:only )?(?:for|to|reserved for) (?:our )?"
    r"(?:paying |paid )?(?:subscribers|members)\b|.{3,200}\bcontributed to this (?:report|story|article)\W*\Z"
    r"|.{0,80}\ball rights reserved\b|.{0,80}\bterms (?:of (?:service|use)|and conditions)\b.{0,40}\bprivacy policy)",
    re.IGNORECASE,
)
_CHINESE = re.compile(
    r"[\W_]*(?:"
    # credits
    r"(?:图|照片?|图片|影片|摄影|画面|封面图?)(?:片)?(?:来源|提供)?\s?[/:|].{1,40}\Z"
    r"|.{0,20}(?:资料|档案|示意|情境)(?:照片?|图片?|画面)\W*\Z|记者.{2,10}[摄/].{0,14}\Z|.{2,12}摄\W*\Z"
    r"|(?:责任|执行|核稿|审稿|网路|网络|值班)?(?:编辑|编译|校对|撰稿|翻译|整理|监制)\s?[/:|].{1,30}\Z"
    # rights and terms
    r"|本(?:网站|网|站)?.{0,10}(?:使用|采用|透过).{0,6}cookies?|继续(?:使用|浏览)本.{0,40}(?:同意|接受)"
    r"|未经.{0,10}(?:授权|许可|同意|允许).{0,14}(?:不得|禁止|请勿|严禁)|版权(?:所有|归)|(?:请勿|严禁|禁止|不得)(?:任意|擅自)?转[载贴]"
    r"|本(?:文|篇|报[道导])(?:章)?(?:由|经|获|转载|授权|原载|原刊|首发|内容由).{0,30}(?:授权|转载|提供|刊载|刊登|合作)"
    r"|(?:以上|本文|文章).{0,6}(?:观点|言论|立场|内容).{0,8}(?:仅代表|不代表|仅供)"
    r"|本(?:文|报[道导]|内容|篇).{0,6}(?:付费|会员|订户).{0,4}(?:限定|专属|专享|独享)"
    # invitations
    r"|(?:登入|登录|成为|加入).{0,6}会员.{0,14}(?:阅读|观看|全文|继续)"
    r"|(?:点我|点此|点击|点选|点这|立即|马上|快来|欢迎|扫描|赶快|请)?(?:订阅|加入|追踪|追蹤|关注|下载|按赞|分享|收听|点击|点选|点我)"
    r"(?![^，。！？]{0,20}(?:者|人数|民众|数|量|后|时|的人))[^。！？]{0,20}?(?:电子报|newsletter|app|line|粉丝|频道|instagram|facebook|脸书|"
    r"telegram|公众号|微信|二维码|好友|朋友|podcast|\big\b)"
    r"|请(?:继续|往下|点击).{0,4}(?:阅读|看|浏览)|广告\W*\Z|原文(?:网址|链接|连结|出处|标题)"
    r"|更多(?:精彩|详细|最新|相关)?(?:报[道导]|新闻|内容|资讯).{0,14}(?:详见|请看|请见|尽在|报[道导])"
    r"|喜欢这[篇则]|看了这[篇则]|提醒您\s?:|不用抽.{0,3}不用抢|(?:我要)?(?:投稿|爆料)[:/]"
    r")",
    re.IGNORECASE,
)
_CAPTION = re.compile(r"\s*[▲▼△▽◤↑↓]")


def is_notice(text: str) -> bool:
    """Whether a sentence is a credit, a caption with its arrow, an invitation, or terms that come with every story."""
    if len(text) > _MOST_CHARACTERS:
        return False
    if _CAPTION.match(text) or _CREDITS.fullmatch(text) or _INVITATIONS.match(text) or _TERMS.match(text):
        return True
    return _CHINESE.match(flatten(text)) is not None
