"""The expectation of a number over a reply's tokens, against brute force over a toy model."""

import itertools
import math
import zlib
from collections.abc import Callable, Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groundwire.core.errors import UsageError
from groundwire.core.expectation import Expectation, expected_choice, expected_value
from groundwire.core.language import ReplyToken, TokenChoice

Toy = Callable[[str], Mapping[str, float]]
"""What may follow a text, with its probability; "" ends the reply."""


def place(said: str, shares: Mapping[str, float]) -> ReplyToken:
    choices = tuple(TokenChoice(text, math.log(share)) for text, share in shares.items() if share > 0)
    return ReplyToken(said, math.log(shares[said]), choices)


def sampled(toy: Toy, *path: str) -> tuple[ReplyToken, ...]:
    """The tokens of a reply that a toy model gave, each with all its alternatives."""
    return tuple(place(said, toy("".join(path[:at]))) for at, said in enumerate(path))


def brute_force(toy: Toy, *, begun: str = "", depth: int = 6) -> dict[str, float]:
    """Every reply of a toy model with its probability."""
    if depth == 0:
        return {begun: 1.0}
    replies: dict[str, float] = {}
    for token, share in toy(begun).items():
        if not token or token.endswith("\n"):
            replies[begun + token] = replies.get(begun + token, 0.0) + share
            continue
        for text, inner in brute_force(toy, begun=begun + token, depth=depth - 1).items():
            replies[text] = replies.get(text, 0.0) + share * inner
    return replies


def mean(replies: Mapping[str, float]) -> float:
    return sum(float(text) * share for text, share in replies.items()) / sum(replies.values())


def test_whole_numbers_in_one_token_give_the_exact_mean_mode_and_spread() -> None:
    tokens = (place("85", {"85": 0.5, "90": 0.3, "70": 0.2}), place("\n", {"\n": 1.0}))

    found = expected_value(tokens)

    assert found.value == pytest.approx(0.5 * 85 + 0.3 * 90 + 0.2 * 70)
    assert found.spread == pytest.approx(math.sqrt(0.5 * 1.5**2 + 0.3 * 6.5**2 + 0.2 * 13.5**2))
    assert (found.mode, found.estimated, found.outcome) == (85, 0, "read")
    assert found.mass == pytest.approx(1)


shares = st.lists(st.floats(0.01, 1), min_size=10, max_size=10).map(lambda given: [each / sum(given) for each in given])


@settings(deadline=None, max_examples=60)
@given(shares, shares, st.integers(2, 9), st.integers(0, 9))
def test_a_digit_a_token_is_exact_where_the_second_digit_does_not_hang_on_the_first(
    first: list[float], second: list[float], tens: int, units: int
) -> None:
    weight = sum(first[2:])

    def toy(begun: str) -> Mapping[str, float]:
        if not begun:
            return {str(digit): first[digit] / weight for digit in range(2, 10)}
        return {str(digit): second[digit] for digit in range(10)} if len(begun) == 1 else {"\n": 1.0}

    found = expected_value(sampled(toy, str(tens), str(units), "\n"))

    assert found.value == pytest.approx(mean(brute_force(toy)))
    assert found.mass == pytest.approx(1)
    assert found.estimated == pytest.approx(1 - first[tens] / weight)


@settings(deadline=None, max_examples=80)
@given(st.integers(0, 2**32), st.integers(0, 100))
def test_the_bounds_hold_for_any_model_over_any_tokens(seed: int, answer: int) -> None:
    """Every token may be one or two digits or the end; what follows hangs on all that was said."""

    def toy(begun: str) -> Mapping[str, float]:
        options = [*map(str, range(10)), "55", "70", "90", ""] if begun else [*map(str, range(10)), "55", "70", "90"]
        fitting = [each for each in options if not each or int(begun + each) <= 100]
        if begun in ("0", "00"):
            fitting = [""]
        weights = [1 + zlib.crc32(f"{seed} {begun} {each}".encode()) % 97 for each in fitting]
        return {each: weight / sum(weights) for each, weight in zip(fitting, weights, strict=True)}

    path = [*str(answer), ""]
    found = expected_value(sampled(toy, *path), least_mass=0.01)
    truth = mean(brute_force(toy))

    assert found.lowest - 1e-9 <= truth <= found.highest + 1e-9
    assert 0 <= found.estimated <= found.mass <= 1
    if found.value is not None:
        assert found.lowest - 1e-9 <= found.value <= found.highest + 1e-9


def test_a_hundred_in_three_tokens_is_told_from_ten_and_one() -> None:
    after = {"": {"1": 0.8, "9": 0.2}, "1": {"0": 0.9, "5": 0.1}, "10": {"0": 0.95, "": 0.05}, "100": {"": 1.0}}
    tokens = tuple(place(said, after[begun]) for said, begun in (("1", ""), ("0", "1"), ("0", "10"), ("", "100")))

    found = expected_value(tokens)

    exact = {100: 0.8 * 0.9 * 0.95, 10: 0.8 * 0.9 * 0.05, 15: 0.8 * 0.1}
    total = sum(share * value for value, share in exact.items()) + 0.2 * 94.5
    assert found.estimated == pytest.approx(0.2)
    assert found.value == pytest.approx(total)
    assert found.mode == 100


def test_a_first_digit_that_could_begin_a_hundred_stays_open() -> None:
    tokens = (place("8", {"8": 0.6, "1": 0.4}), place("5", {"5": 1.0}))

    found = expected_value(tokens)

    assert (found.value, found.estimated) == (pytest.approx(85), 0)
    assert found.mass == pytest.approx(0.6)
    assert (found.lowest, found.highest) == (pytest.approx(0.6 * 85 + 0.4), pytest.approx(0.6 * 85 + 0.4 * 100))


@pytest.mark.parametrize(
    ("texts", "after", "value"),
    [
        (("85",), "", 85),
        (("８５",), "", 85),
        (("８", "５"), "", 85),
        ((" 85",), "", 85),
        ((" ", "85"), "", 85),
        (("85分",), "", 85),
        (("8", "5分"), "", 85),
        (("100",), "", 100),
        (("7", ","), "", 7),
        (("85", ".", "5", "\n"), "", 85.5),
        (("85", ".", " It"), "", 85),
        (('{"', "score", '":', " ", "85", "}"), "", 85),
        (('{"score":85', "}"), "", 85),
        (("Score:", " **", "85", "**"), "", 85),
        (('{"relevance": ', "85", ', "consistency": ', "70", "}"), '"consistency":', 70),
        (('{"consistency": "', "7", "0", '"}'), '"consistency":', 70),
        (('{"relevance":85', ',"consistency":70', "}"), '"consistency":', 70),
        (("0",), "", 0),
    ],
)
def test_the_number_is_found_in_any_dress(texts: tuple[str, ...], after: str, value: float) -> None:
    tokens = tuple(place(text, {text: 1.0}) for text in texts)

    found = expected_value(tokens, after=after)

    assert (found.value, found.outcome) == (pytest.approx(value), "read")


def test_white_space_of_another_kind_counts_as_the_same_and_a_number_without_it_is_seen() -> None:
    tokens = (place(" ", {" ": 0.5, "  ": 0.2, "70": 0.2, "x": 0.1}), place("90", {"90": 1.0}), place("}", {"}": 1.0}))

    found = expected_value(tokens)

    assert found.mass == pytest.approx(0.9)
    assert found.value == pytest.approx((0.7 * 90 + 0.2 * 70) / 0.9)


def test_alternatives_that_end_the_number_or_are_no_number_are_told_apart() -> None:
    second = {"5": 0.5, "分": 0.2, ",": 0.1, "x": 0.1, ".5": 0.1}
    tokens = (
        place("8", {"8": 0.9, "-3": 0.03, "Q4": 0.03, " ": 0.04}),
        place("5", second),
        place("\n", {"\n": 0.8, "0": 0.2}),
    )

    found = expected_value(tokens)

    eight, half = 0.9 * (0.2 + 0.1 + 0.1), 0.9 * 0.1
    eighty = 0.9 * 0.5 * 0.8
    assert found.mass == pytest.approx(eight + half + eighty)
    assert found.value == pytest.approx((8 * eight + 8.5 * half + 85 * eighty) / found.mass)


def test_a_number_that_was_cut_is_not_taken_as_finished() -> None:
    tokens = (place("8", {"8": 1.0}),)

    assert expected_value(tokens).value == 8
    assert expected_value(tokens, whole=False).outcome == "unreadable"
    assert expected_value((place("85", {"85": 1.0}),), whole=False).value == 85
    assert expected_value((place("85", {"85": 1.0}), place(".5", {".5": 1.0})), whole=False).highest < 85.7


def test_an_ending_that_leaves_the_scale_is_not_estimated() -> None:
    tokens = (place("8", {"8": 0.7, "3": 0.1, "9": 0.2}), place("5", {"5": 0.6, "0": 0.3, "55": 0.1}))

    found = expected_value(tokens, low=50)

    eighties = 0.7 * (0.6 * 85 + 0.3 * 80)
    nineties = 0.2 * (2 / 3 * 95 + 1 / 3 * 90)
    assert found.mass == pytest.approx(0.7 * 0.9 + 0.2)
    assert found.value == pytest.approx((eighties + nineties) / found.mass)


def test_a_scale_of_five_needs_one_token() -> None:
    found = expected_value((place("4", {"4": 0.6, "5": 0.3, "9": 0.1}), place("\n", {"\n": 1.0})), low=1, high=5)

    assert found.value == pytest.approx((4 * 0.6 + 5 * 0.3) / 0.9)
    assert found.mass == pytest.approx(0.9)


def test_a_sampled_token_that_is_not_among_its_alternatives_counts_all_the_same() -> None:
    token = ReplyToken("85", math.log(0.1), (TokenChoice("90", math.log(0.9)), TokenChoice("7", -math.inf)))

    assert expected_value((token,)).value == pytest.approx(0.1 * 85 + 0.9 * 90)


@pytest.mark.parametrize(
    ("tokens", "options", "outcome", "reason"),
    [
        ((), {}, "unreadable", "the reply holds no number"),
        ((place("high", {"high": 1.0}),), {}, "unreadable", "the reply holds no number"),
        ((place("85", {"85": 1.0}),), {"after": '"score":'}, "unreadable", "no number after"),
        ((place('"score": c. 85', {'"score": c. 85': 1.0}),), {"after": '"score":'}, "unreadable", "no number after"),
        ((ReplyToken("85", -0.1),), {}, "unreadable", "without alternatives"),
        ((place("850", {"850": 1.0}),), {}, "out_of_range", "the reply says 850"),
        ((place("-5", {"-5": 1.0}),), {}, "out_of_range", "below 0"),
        ((place("-", {"-": 1.0}), place("5", {"5": 1.0})), {}, "out_of_range", "below 0"),
        ((place("0", {"0": 1.0}), place(".85", {".85": 1.0})), {}, "out_of_range", "the reply says 0.85"),
        ((place("85", {"85": 0.3, "none": 0.7}),), {}, "unreadable", "hold 0.30 of the probability, less than 0.5"),
    ],
)  # fmt: skip
def test_what_cannot_be_told_is_unscored_with_its_reason(
    tokens: tuple[ReplyToken, ...], options: dict[str, str], outcome: str, reason: str
) -> None:
    found = expected_value(tokens, after=options.get("after", ""))

    assert (found.value, found.mode, found.spread, found.outcome) == (None, None, None, outcome)
    assert reason in found.reason


@pytest.mark.parametrize(
    ("low", "high", "least"), [(5, 5, 0.5), (-1, 5, 0.5), (0, math.inf, 0.5), (0, 1, 0), (0, 1, 2)]
)
def test_a_scale_or_share_that_is_none_is_refused(low: float, high: float, least: float) -> None:
    with pytest.raises(UsageError, match="no expectation"):
        expected_value((), low=low, high=high, least_mass=least)


YES_NO = {"yes": 100.0, "no": 0.0, "是": 100.0, "否": 0.0}


@pytest.mark.parametrize(
    ("said", "others", "value"),
    [
        ("Yes", {"No": 0.25}, 75),
        (" yes", {"no.": 0.25}, 75),
        ("是", {"否": 0.4}, 60),
        ("Y", {"N": 0.25}, 75),
        ("Yes", {"yes": 0.1, "No": 0.2}, 80),
        ("No", {"None": 0.2, "Nope": 0.1, "Yes": 0.35}, 50),
    ],
)
def test_a_choice_of_words_has_an_expectation(said: str, others: dict[str, float], value: float) -> None:
    token = place(said, {said: 1 - sum(others.values()), **others})

    for tokens in ((token,), (place("\n", {"\n": 1.0}), token)):
        assert expected_choice(tokens, choices=YES_NO).value == pytest.approx(value)


@pytest.mark.parametrize(
    ("tokens", "reason"),
    [
        ((), "empty"),
        ((place(" ", {" ": 1.0}),), "empty"),
        ((place("Maybe", {"Maybe": 1.0}),), "begins with 'Maybe'"),
        ((ReplyToken("Yes", -0.1),), "without alternatives"),
        ((place("Yes", {"Yes": 0.2, "Well": 0.8}),), "0.20 of the probability"),
    ],
)
def test_a_choice_that_cannot_be_told_is_unscored(tokens: tuple[ReplyToken, ...], reason: str) -> None:
    found: Expectation = expected_choice(tokens, choices=YES_NO)

    assert (found.value, found.outcome) == (None, "unreadable")
    assert reason in found.reason


@pytest.mark.parametrize(("words", "least"), [(("yes",), 0.5), (("yes", "no"), 0)])
def test_a_choice_of_one_is_none(words: tuple[str, ...], least: float) -> None:
    with pytest.raises(UsageError, match="are no choice"):
        expected_choice((), choices=dict(zip(words, itertools.count(), strict=False)), least_mass=least)
