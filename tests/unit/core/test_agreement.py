"""Whether two mentions say the same: tables of statements that do and that do not carry each other."""

from datetime import date

import pytest

from groundwire.core.agreement import computed, dates_agree, units_agree, values_agree
from groundwire.core.mentions import find_dates
from groundwire.core.quantities import find_quantities

PUBLISHED = date(2022, 9, 5)  # a Monday


def numbers_carried(claim: str, source: str) -> bool:
    """Whether each number of a claim agrees with one of the source, or both ends of a range stand there."""
    known = find_quantities(source)
    return all(
        any(values_agree(said, other) and units_agree(said, other) is not False for other in known)
        for said in find_quantities(claim)
        if not said.weak
    )


def dates_carried(claim: str, source: str) -> bool:
    """Whether each date of a claim lies around one of the source."""
    known = find_dates(source, anchor=PUBLISHED)
    return all(
        any(dates_agree(said, other) == "same" for other in known) for said in find_dates(claim, anchor=PUBLISHED)
    )


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("The team won 2:1 in the final.", "The team won 2:2 in the final."),
        ("球隊以50比61落敗給對手。", "球隊以61比50落敗給對手。"),
        ("球隊以二比一擊敗對手。", "球隊以二比二擊敗對手。"),
        ("球隊以3：1擊敗對手。", "球隊以3：2擊敗對手。"),
        ("He ran the marathon in 2:30:59 on the course.", "He ran the marathon in 2:03:59 on the course."),
        ("The model has a scale of 1:10 exactly here.", "The model has a scale of 1:20 exactly here."),
        ("Hundreds of people marched in the city.", "Dozens of people marched in the city."),
        ("Thousands marched in the city on the day.", "Hundreds marched in the city on the day."),
        ("Dozens of people marched in the city.", "12 people marched in the city."),
        ("數千人參加市區遊行。", "數百人參加市區遊行。"),
        ("損失數億元的工廠。", "損失數百萬元的工廠。"),
        ("投資上兆元的計畫。", "投資上億元的計畫。"),
        ("捐款百萬元給學校。", "捐款千萬元給學校。"),
        ("捐款近億元給學校。", "捐款近千萬元給學校。"),
        ("上千人參加市區遊行。", "上萬人參加市區遊行。"),
        ("三四十人參加市區遊行。", "二三十人參加市區遊行。"),
        ("幾十人參加市區遊行。", "十幾人參加市區遊行。"),
        ("Sales tripled at the company last summer.", "Sales doubled at the company last summer."),
        ("晶片線寬3微米的製程。", "晶片線寬3奈米的製程。"),
        ("The 3-micrometer chip line is in production.", "The 3-nanometer chip line is in production."),
        ("每包50公克的藥物檢出。", "每包50毫克的藥物檢出。"),
        ("每包50微克的藥物檢出。", "每包50毫克的藥物檢出。"),
        ("水庫蓄水量1,200萬公升。", "水庫蓄水量1,200萬立方公尺。"),
        ("水庫蓄水量1,200萬平方公尺。", "水庫蓄水量1,200萬立方公尺。"),
        ("The fire spread over 36 kilometres of forest.", "The fire spread over 36 square kilometres of forest."),
        ("The phone has 12GB of storage in it.", "The phone has 12TB of storage in it."),
        ("The plant produces 640 kW of power.", "The plant produces 640 MW of power."),
        ("粮食产量达8000万斤。", "粮食产量达8000万吨。"),
        ("The city reached 41.8°F on the day.", "The city reached 41.8°C on the day."),
        ("氣溫降到華氏8度的城市。", "氣溫降到攝氏8度的城市。"),
        ("每瓶售價5元的飲料。", "每瓶售價5角的飲料。"),
        ("The wind blew at 100 km per minute there.", "The wind blew at 100 km per hour there."),
        ("工廠每月生產500輛汽車。", "工廠每天生產500輛汽車。"),
        ("全市共有12萬戶停電。", "全市共有12萬人停電。"),
        ("The project will cost 240 lakh in total.", "The project will cost 240 crore in total."),
        ("It cost 500 baht to enter the park.", "It cost 500 pesos to enter the park."),
        ("It cost 500 won to enter the park.", "It cost 500 ringgit to enter the park."),
        ("It cost 500 rupees to enter the park.", "It cost 500 rubles to enter the park."),
        ("It cost 500 francs to enter the park.", "It cost 500 kronor to enter the park."),
        ("It cost 500 zloty to enter the park.", "It cost 500 lira to enter the park."),
        ("It cost 500 rand to enter the park.", "It cost 500 reais to enter the park."),
        ("It cost 500 dirhams to enter the park.", "It cost 500 riyals to enter the park."),
        ("It cost 500 shekels to enter the park.", "It cost 500 dong to enter the park."),
        ("門票售價500泰銖整。", "門票售價500披索整。"),
        ("門票售價500越南盾整。", "門票售價500馬幣整。"),
        ("門票售價500令吉整。", "門票售價500韓元整。"),
        ("門票售價500韓圜整。", "門票售價500盧布整。"),
        ("門票售價500盧比整。", "門票售價500法郎整。"),
        ("門票售價500克朗整。", "門票售價500里拉整。"),
        ("門票售價500歐元整。", "門票售價500英鎊整。"),
        ("門票售價500日圓整。", "門票售價500人民幣整。"),
        ("門票售價500港幣整。", "門票售價500新台幣整。"),
        ("It cost ₹500 to enter the park there.", "It cost ₩500 to enter the park there."),
        ("It cost ฿500 to enter the park there.", "It cost ₫500 to enter the park there."),
        ("It cost ₱500 to enter the park there.", "It cost ₽500 to enter the park there."),
        ("It cost ₺500 to enter the park there.", "It cost $500 to enter the park there."),
        ("It cost two point five million dollars to build.", "It cost two point six million dollars to build."),
        ("They raised a quarter of a million for the school.", "They raised half of a million for the school."),
        ("They sold 10 000 tonnes of rice abroad.", "They sold 20 000 tonnes of rice abroad."),
        ("The debt is five million million in total.", "The debt is five million in total."),
        ("The bank raised rates by 25 basis points today.", "The bank raised rates by half a point today."),
        ("公司虧損參億元新台幣。", "公司虧損貳億元新台幣。"),
        ("公司虧損伍拾萬元新台幣。", "公司虧損伍佰萬元新台幣。"),
        ("央行決定升息半碼。", "央行決定升息1碼。"),
        ("商品打七折出售給民眾。", "商品打八折出售給民眾。"),
        ("兩成民眾支持這項政策。", "三成民眾支持這項政策。"),
        ("About ¼ of the voters stayed at home.", "About ¾ of the voters stayed at home."),
        ("年薪30萬元以上的員工。", "年薪30萬元以下的員工。"),
        ("Nearly 4,500 people marched in the city.", "4,500 people marched in the city."),
        ("She finished first in the women's race.", "She finished second in the women's race."),
        ("他獲得第一名的成績。", "他獲得第二名的成績。"),
        ("Salaries rose to 500 dollars per month.", "Salaries rose to 500 dollars per day."),
    ],
)
def test_another_number_unit_or_currency_does_not_carry_a_claim(claim: str, source: str) -> None:
    assert any(not said.weak for said in find_quantities(claim))
    assert not numbers_carried(claim, source)


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("Support rose by four percentage points in the poll.", "Support rose 4 points in the poll."),
        ("名單上有23名學生。", "名單上有廿三名學生。"),
        ("They sold 10,000 tonnes of rice abroad.", "They sold 10 000 tonnes of rice abroad."),
        ("The dam holds 12m cubic metres of water.", "The dam holds 12 million cubic metres of water."),
        ("They raised $250,000 for the school.", "They raised a quarter of a million for the school."),
        ("罚款30万元的公司。", "罚款三十万块的公司。"),
        ("He became the forty-fifth president of the country.", "He became the 45th president of the country."),
        ("About 10% of adults in the city smoke.", "About one in 10 adults in the city smoke."),
        ("The rate rose from 5% to 7% in the city.", "The rate rose 5-7% in the city."),
        ("The team won 2-1 in the final.", "The team won 2:1 in the final."),
        ("Hundreds of people marched in the city.", "Some 450 people marched in the city."),
        ("數百人參加市區遊行。", "450人參加市區遊行。"),
        ("More than 100 people marched in the city.", "Hundreds of people marched in the city."),
        ("The wind blew at 100 kph in the town.", "The wind blew at 100 km per hour in the town."),
        ("It cost two point five million dollars to build.", "It cost $2.5 million to build."),
        ("央行決定升息1碼。", "央行決定升息0.25個百分點。"),
        ("公司虧損參億元新台幣。", "公司虧損3億元新台幣。"),
        ("The match began at 7:30 in the arena.", "The match began at 7:30 in the arena on the day."),
        ("The phone has 12 GB of storage in it.", "The phone has 12GB of storage in it."),
        ("The reservoir holds 12 square kilometres.", "The reservoir holds 12 sq km."),
        ("捐款百萬元給學校。", "捐款100萬元給學校。"),
        ("They paid 500 rupees for it in the shop.", "They paid ₹500 for it in the shop."),
        ("Nearly 4,500 people marched in the city.", "4,450 people marched in the city."),
        ("十幾人到場。", "15人到場。"),
        ("Sales grew threefold there.", "Sales tripled there."),
        ("產量翻兩番。", "產量成長4倍。"),
        ("數千民眾到場。", "成千上萬人到場。"),
        ("A fire burned 12 km² there.", "A fire burned 12 square kilometres there."),
        ("It was 12 degrees Celsius.", "It was 12°C."),
        ("工廠產量500輛/天", "工廠每天500輛"),
    ],
)
def test_the_same_number_written_another_way_carries_a_claim(claim: str, source: str) -> None:
    assert any(not said.weak for said in find_quantities(claim))
    assert numbers_carried(claim, source)


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("The bridge opened on Oct. 7 this year.", "The bridge opened on Oct. 7 last year."),
        ("The bridge opened on Oct. 7, 2022.", "The bridge opened on Oct. 7 last year."),
        ("The bridge opened in March 2022.", "The bridge opened in March last year."),
        ("大橋於2022年9月5日通車。", "大橋於上個月5日通車。"),
        ("大橋於2022年8月30日通車。", "大橋於上上週二通車。"),
        ("大橋於2022年8月通車。", "大橋於上上個月通車。"),
        ("大橋將於2022年9月16日通車。", "大橋將於下下週五通車。"),
        ("大橋於2022年9月3日通車。", "大橋於大前天通車。"),
        ("大橋將於2022年9月7日通車。", "大橋將於大後天通車。"),
        ("大橋於2020年通車。", "大橋於大前年通車。"),
        ("The bridge opened in H1 2021 to traffic.", "The bridge opened in H2 2021 to traffic."),
        ("大橋於2021年上半年通車。", "大橋於2021年下半年通車。"),
        ("大橋於上半年通車。", "大橋於下半年通車。"),
        ("Profit grew in FY2021 at the company.", "Profit grew in FY2022 at the company."),
        ("The bridge opened in winter 2021 to traffic.", "The bridge opened in summer 2021 to traffic."),
        ("The bridge opened in the '80s to traffic.", "The bridge opened in the '90s to traffic."),
        ("大橋於2021年初通車。", "大橋於2021年底通車。"),
        ("大橋於年初通車。", "大橋於年底通車。"),
        ("大橋於5月上旬通車。", "大橋於5月下旬通車。"),
        ("大橋於5月中旬通車。", "大橋於5月上旬通車。"),
        ("大橋於5月初通車。", "大橋於5月底通車。"),
        ("大橋於2022年初通車。", "大橋於2022年通車。"),
        ("廟會於正月初五舉行。", "廟會於正月初六舉行。"),
        ("The bridge opened on New Year's Day in town.", "The bridge opened on Christmas Day in town."),
        ("The bridge opened in November 2022 to traffic.", "The bridge opened in November to traffic."),
        ("The bridge opened in early May 2021 to traffic.", "The bridge opened in late May 2021 to traffic."),
        ("大橋於2022年5月通車。", "大橋於民國111年6月通車。"),
        ("The law was passed the day before yesterday.", "The law was passed yesterday."),
        ("大橋於去年春天通車。", "大橋於去年秋天通車。"),
        ("大橋於元旦通車。", "大橋於聖誕節通車。"),
    ],
)
def test_another_date_does_not_carry_a_claim(claim: str, source: str) -> None:
    assert find_dates(claim, anchor=PUBLISHED)
    assert not dates_carried(claim, source)


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("The bridge opened on Oct. 7, 2021.", "The bridge opened on Oct. 7 last year."),
        ("The bridge opened in March 2021.", "The bridge opened in March last year."),
        ("大橋於2022年8月5日通車。", "大橋於上個月5日通車。"),
        ("大橋於2022年8月23日通車。", "大橋於上上週二通車。"),
        ("大橋於2022年7月通車。", "大橋於上上個月通車。"),
        ("大橋將於2022年9月23日通車。", "大橋將於下下週五通車。"),
        ("大橋於2022年9月2日通車。", "大橋於大前天通車。"),
        ("大橋將於2022年9月8日通車。", "大橋將於大後天通車。"),
        ("大橋於2019年通車。", "大橋於大前年通車。"),
        ("The bridge opened in November 2021 to traffic.", "The bridge opened in November to traffic."),
        ("The bridge will open in November 2022 to traffic.", "The bridge will open in November to traffic."),
        ("大橋於2010年通車。", "大橋於民國九十九年通車。"),
        ("大橋於2021年5月6日通車。", "大橋於民國一一〇年五月六日通車。"),
        ("The bridge opened in the 1980s to traffic.", "The bridge opened in the '80s to traffic."),
        ("大橋於2021年通車。", "大橋於2021年初通車。"),
        ("大橋於2021年初通車。", "大橋於2021年2月通車。"),
        ("The bridge opened in 2021 to traffic.", "The bridge opened in winter 2021 to traffic."),
        ("The bridge opened in early 2021 to traffic.", "The bridge opened in early 2021 to cars and traffic."),
    ],
)
def test_the_same_date_written_another_way_carries_a_claim(claim: str, source: str) -> None:
    assert find_dates(claim, anchor=PUBLISHED)
    assert dates_carried(claim, source)


@pytest.mark.parametrize(
    ("claimed", "source", "how"),
    [
        ("15 people died", "12 people died in Tainan and 3 people in Chiayi", "sum"),
        ("9 people more", "12 people died in Tainan and 3 people in Chiayi", "difference"),
        ("25% of them", "12 people died in Tainan and 3 people in Chiayi", "share"),
        ("a 25.0% gain", "it cost $500 in May and $400 in April", "change"),
        ("14 people died", "12 people died in Tainan and 3 people in Chiayi", ""),
        ("15 dollars", "12 people died in Tainan and 3 people in Chiayi", ""),
        ("first", "12 people died", ""),
        ("15 people died", "12 people died and $3 was lost", ""),
    ],
)
def test_a_number_made_of_two_of_the_source_is_told(claimed: str, source: str, how: str) -> None:
    (quantity, *_) = find_quantities(claimed)
    made = computed(quantity, find_quantities(source))
    assert (made[0] if made else "") == how
