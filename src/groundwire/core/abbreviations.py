"""Words that the sentence splitter knows: abbreviations, and what may open a sentence behind one."""

from __future__ import annotations


def _listed(terms: str) -> frozenset[str]:
    """A set of words written as running text."""
    return frozenset(terms.split())


TITLES = _listed(
    "Adm Amb Atty Brig Capt Cmdr Col Cpl Det Dr Gen Gov Hon Insp Lt Maj Messrs Mlle Mme Mr Mrs Ms Msgr Mx Pres "
    "Prof Pvt Rep Reps Rev Sen Sens Sgt Supt"
)
ALWAYS_OPEN = _listed("e.g i.e viz cf vs v ca approx")
NUMBERED = _listed(
    "apt art arts bldg ch chs eq eqs fig figs no nos op p para pp sec sect tel ext vol vols ver approx est ca"
)
DATED = _listed("jan feb mar apr jun jul aug sep sept oct nov dec mon tue tues wed thu thur thurs fri sat sun")
_OTHER_SHORT = _listed(
    "al ave blvd bros co corp dept ed eds est etc ft govt hrs inc incl jr llc ltd mass max min mt plc rd sr st trans "
    "univ wash"
)
SHORT = NUMBERED | DATED | _OTHER_SHORT | ALWAYS_OPEN | frozenset(title.lower() for title in TITLES)
AFTER_CLOCK = _listed(
    "monday tuesday wednesday thursday friday saturday sunday january february march april may june july august "
    "september october november december et est edt ct cst cdt mt mst mdt pt pst pdt gmt bst utc cet eastern "
    "central mountain pacific taipei"
)
OPENING_WORDS = _listed(
    "A An The This That These Those There Here He She It They We You I His Her Its Their Our My But And Or So Yet "
    "If When While As At By For From In On Of To With Since Although Though Because Before After During Until "
    "Unless Once However Moreover Meanwhile Also Then Thus Therefore Still Now Today Yesterday Later Many Most "
    "Some Several All Both Each Every No Not One Two Three Another Other What Who Why How Where According Despite "
    "Among Under Even Only Officials Police Analysts Experts Critics Shares"
)
UNFINISHED = _listed(
    "a an and as at but by for from in into is of on or our said than that the their to was were which who with"
)
ALSO_WORDS = _listed("art arts mar mass no sat sun wash")
"""Abbreviations that are words of their own in small letters."""
BEFORE_DATES = _listed("by early in last late next of on since this through until")
"""Before the short name of a day or month that nothing but a date would follow."""
DETERMINERS = _listed("a an as the his her our their")
PLAIN_SUBJECTS = _listed("He She It They The This That These Those There His Her Its Their We You But And")
"""What a name that follows a title is not, but for a few Chinese ones."""
