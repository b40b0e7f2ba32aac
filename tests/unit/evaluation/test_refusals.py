"""Phrasings of a refusal in three kinds of writing, beside answers that look like one; all wording is ours."""

import time

import pytest

from groundwire.evaluation.measures import evading_share, is_refusal

TRADITIONAL = (
    "提供的資料中沒有這項資訊。",
    "資料中沒有這項資訊。",
    "文件裡沒有這方面的資訊。",
    "所提供的文章沒有這個資訊。",
    "參考資料裡查不到這項資訊。",
    "資料裡沒有這個問題的答案。",
    "資料中並無此項資訊。",
    "資料中並未包含這項資訊。",
    "這項資訊不在提供的資料中。",
    "答案不在所給的文件裡。",
    "資料未涵蓋這個問題。",
    "資料中沒有足夠的線索可以回答。",
    "現有資料無法回答這個問題。",
    "從這些報導看不出來。",
    "從文章中看不出答案。",
    "無法從資料中得知。",
    "無法由提供的段落判斷。",
    "這些段落沒有談到這件事。",
    "文中沒有寫到這一點。",
    "報導沒有交代原因。",
    "資料對此沒有說明。",
    "文章對此隻字未提。",
    "檔案中沒有任何記載。",
    "沒有找到相關的報導。",
    "我找不到這項資訊。",
    "我無法從提供的內容中找到答案。",
    "很抱歉，我沒有這方面的資料。",
    "我沒有相關資訊。",
    "目前沒有這項資料。",
    "沒有資料可以回答這個問題。",
    "沒有相關資料。",
    "缺乏相關資訊，無法作答。",
    "報導對此隻字未提。",
)
SIMPLIFIED = (
    "提供的信息中没有这项内容。",
    "资料里没有这方面的信息。",
    "文档中没有该信息。",
    "上下文中没有相关信息。",
    "上下文未提供这一信息。",
    "根据上下文无法得知。",
    "文中没有说。",
    "文中未说明。",
    "材料没有给出答案。",
    "材料中找不到答案。",
    "没有提供相关信息。",
    "无法从文中得出答案。",
    "给定的材料中没有答案。",
    "对不起，资料里没有。",
    "这个问题在资料中没有答案。",
    "来源里没有这样的信息。",
    "文章没有谈及此事。",
    "我没有足够的信息来回答。",
    "信息不足。",
    "无从判断。",
    "这个问题资料中没有答案。",
)
ENGLISH = (
    "The provided material has no such information.",
    "That information is not in the documents.",
    "The answer is not in the sources.",
    "The documents do not have that information.",
    "The sources do not have an answer to this.",
    "I see no answer in the documents.",
    "I can't find that in the passages.",
    "The passages don't cover this.",
    "The archive holds nothing about it.",
    "The archive has nothing on this question.",
    "There is no mention of this in the sources.",
    "There is nothing about it in the context.",
    "No mention of it is made in the articles.",
    "Nothing about this is said in the passages.",
    "The context lacks this information.",
    "The context is insufficient to answer.",
    "The passages are not enough to answer the question.",
    "It isn't mentioned anywhere in the documents.",
    "This is not covered by the articles.",
    "It cannot be determined from the context.",
    "We are not told.",
    "The text gives no answer.",
    "The text leaves this open.",
    "The sources give no figure for it.",
    "No figure is given in the sources.",
    "I have no information about that.",
    "I don't have enough information to answer.",
    "I was not able to find an answer.",
    "I'm afraid the sources don't say.",
    "Unfortunately, the context does not specify.",
    "Not mentioned.",
    "Not stated.",
    "Not enough information.",
    "Insufficient information.",
    "No relevant information found.",
    "Cannot answer.",
    "Cannot be determined.",
    "The question cannot be answered on the basis of these passages.",
    "None of the documents contain the answer.",
    "Not in the archive.",
    "No information.",
    "I don't have that information.",
    "The documents are silent on the matter.",
    "The given passages do not allow an answer.",
    "Sorry, I could not find the answer.",
    "I could not locate any passage on that.",
)
ANSWERS = (
    "資料庫沒有資料外洩。",
    "這份文件沒有法律效力。",
    "報導內容沒有錯誤。",
    "來源國沒有這項制度。",
    "該公司沒有這項資訊系統。",
    "資料中心沒有停電。",
    "檔案館沒有這項規定。",
    "文章沒有獲獎。",
    "沒有資料外洩。",
    "沒有相關法規。",
    "市府沒有這項預算。",
    "這項資訊不在網路上公開。",
    "警方無法從監視器畫面判斷。",
    "學生無法從課本中學到。",
    "居民沒有足夠的飲用水。",
    "他沒有提供證據。",
    "資料沒有問題。",
    "文件已經遺失。",
    "沒有答案的考卷有三份。",
    "報導指出，沒有人受傷。",
    "沒有人受傷。",
    "文件没有签名。",
    "材料没有运到工地。",
    "上下文管理器没有关闭。",
    "段落没有缩进。",
    "信息系统没有升级。",
    "公司没有提供相关信息给股东。",
    "资料显示没有人员伤亡。",
    "他们没有找到宝藏。",
    "证据不足，法院判他无罪。",
    "內容物沒有過期。",
    "The material has no defects.",
    "The archive has no roof.",
    "The documents do not have signatures.",
    "The report has nothing but praise for him.",
    "That man is not in the documents that were signed.",
    "The book is not in the library.",
    "There is no information desk at the station.",
    "No mention was made of the strike at the dinner.",
    "The data centre has no power.",
    "The evidence lacks a signature.",
    "The sources of the river are not known.",
    "We are not told to leave before noon.",
    "The text is not covered by copyright.",
    "It is not in the budget.",
    "No figure skaters came.",
    "No information was stolen.",
    "The witness had no information about the crime.",
    "The police do not have enough evidence.",
    "Not enough rain fell.",
    "Insufficient funds.",
    "Not in 1998 but in 1999.",
    "The passages in the castle are silent at night.",
    "He does not have the answer.",
    "The results are not final.",
    "The articles cover the war.",
    "The archive holds 300 letters.",
    "The answer is not 42.",
    "The archive is not in Berlin.",
    "從外表看不出來。",
    "保險不理賠，因為證據不足以外的理由。",
    "The article is not included in the new edition.",
    "We found no way out.",
    "她的抽屜裡有資料，信封裡沒有。",
)


@pytest.mark.parametrize("text", [*TRADITIONAL, *SIMPLIFIED, *ENGLISH])
def test_a_refusal_is_seen_in_many_phrasings(text: str) -> None:
    assert is_refusal(text)
    assert evading_share([text]) == 1


@pytest.mark.parametrize("text", ANSWERS)
def test_an_answer_that_looks_like_a_refusal_is_none(text: str) -> None:
    assert not is_refusal(text)


@pytest.mark.parametrize("text", [*TRADITIONAL, *SIMPLIFIED, *ENGLISH])
def test_what_is_told_behind_a_reservation_is_an_answer(text: str) -> None:
    chinese = text.endswith("。")
    assert not is_refusal(f"{text}水壩在五月四日潰決。" if chinese else f"{text} The dam broke on 4 May.")


@pytest.mark.parametrize(
    "words", ["在", "從這在", "這個", "這個問題", "資料", "沒有", "lack of ", "there is nothing ", "no "]
)
def test_no_text_takes_long_however_often_it_says_the_same(words: str) -> None:
    before = time.perf_counter()

    is_refusal(words * 1_000)  # a pattern that tries every reading of 1,000 words would never end

    assert time.perf_counter() - before < 5
