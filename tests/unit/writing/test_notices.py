from __future__ import annotations

import pytest

from groundwire.core.types import Sentence
from groundwire.writing.notices import is_notice
from groundwire.writing.quotable import quotable

NOTICES = """
Photo by Jane Roe.
(Photo: Jane Roe/AP.)
Image: Jane Roe/Getty Images.
(AP Photo/Jane Roe).
Credit: Jane Roe/Reuters.
Photos courtesy of the University of Otago.
Reporting by Jane Roe; editing by John Doe.
With files from The Canadian Press.
© 2024 Example News.
We use cookies and similar technologies to improve our site.
We and our 43 partners use cookies.
By continuing you accept our terms of service and our privacy policy.
This website uses cookies to give you the best experience.
Sign up for our newsletter to get the news every morning.
Get our morning newsletter in your inbox, free of charge.
Enter your email address to subscribe.
Already a subscriber?
Subscribe now!
Join our WhatsApp channel for updates.
Like us on Facebook.
Share this article on Facebook.
Support independent journalism with a donation.
Download our app for breaking news.
Have a tip?
Thank you for reading.
Story continues below advertisement.
— Advertisement —
Click here to read the full report.
This material may not be published, broadcast, rewritten or redistributed.
This article was originally published by The Conversation.
The views expressed are those of the author.
Last updated on May 3.
5 min read.
If you buy through our links, we may earn a commission.
The Associated Press is an independent global news organization dedicated to factual reporting.
Terms under which this site is provided.
Learn more about our Privacy Policy.
--- Associated Press writers Rahim Faiez in Kabul and Mitch Weiss in Greenville contributed to this story.
This article is for subscribers only.
To continue reading, log in.
本文為會員限定內容。
登入會員即可閱讀全文。
▲部長因賄賂辭職（圖／美聯社）。
（圖／翻攝自臉書）。
圖片來源：中央社。
（中央社檔案照片）。
記者王小明攝。
（責任編輯：李小華）1130503。
(责任编辑：王毅 CN096)
本網站使用Cookie以提供您最佳的瀏覽體驗。
繼續使用本網站即表示您同意我們的隱私權政策。
訂閱電子報，每天早上收到最新頭條新聞。
未經授權不得轉載、重製或公開傳輸本網站之文字、圖片及影音內容。
版權所有，翻印必究。
點我下載APP，新聞不漏接。
加入LINE好友，掌握最新消息。
請繼續往下閱讀。
本文由關鍵評論網授權轉載。
◎不用抽、不用搶，現在用APP看新聞，保證天天中獎。
更多精彩報導，詳見官網。
喜歡這篇文章嗎？
"""
REPORTS = """
The regulator fined the site because it uses cookies without consent.
Images by the firm Maxar show damage to the bridge.
Photographs show the bridge before it fell.
Picture the scene at dawn.
Share prices of Facebook fell by 3 percent.
Like many others on Facebook, he lost his account.
Followers on Twitter mocked the minister.
Support for independent candidates grew.
The newsletter has 40,000 subscribers.
Visitors may not use the app.
The agreement was published by the ministry on Friday.
Advertisements for tobacco are banned.
By using drones, the army found the camp.
Contact between the two sides broke off.
Last week the minister resigned.
Copyrighted works are exempt.
He contributed to this report of the ministry.
The privacy policy of the firm broke the law.
圖書館週五開放。
記者會下午舉行。
照片顯示橋梁已經倒塌。
編輯部遭到搜索。
訂閱人數增加三成，頻道收入成長。
下載量超過一百萬次。
未經授權的疫苗流入市面。
廣告收入減少三成。
本文件由行政院公布。
加入歐盟的國家有27個。
分享經濟成長快速。
"""


def rows(table: str) -> list[str]:
    return table.strip().split("\n")


@pytest.mark.parametrize("text", rows(NOTICES))
def test_what_comes_with_every_story_is_known(text: str) -> None:
    assert is_notice(text)


@pytest.mark.parametrize("text", rows(REPORTS))
def test_reports_about_such_things_are_not_taken_for_them(text: str) -> None:
    assert not is_notice(text)


def test_a_long_sentence_says_something_else_too() -> None:
    assert not is_notice("Photo by Jane Roe. " + "The river rose and " * 30)


def test_a_notice_is_not_quoted_and_is_counted() -> None:
    text = "The river rose. We use cookies and similar technologies."
    whole = [
        Sentence("a", "d", passage=0, start=0, end=15, text=text[:15]),
        Sentence("b", "d", passage=0, start=16, end=len(text), text=text[16:]),
    ]

    kept, notes = quotable(text, whole)

    assert [one.id for one in kept] == ["a"]
    assert notes == ("1 sentence(s) left out: headings, by-lines and notices",)
