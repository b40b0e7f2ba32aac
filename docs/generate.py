"""Write ``docs/reference/commands.md`` and ``settings.md`` from the code; ``tests/docs`` checks that they are current.

Usage: python docs/generate.py
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import click

from groundwire.cli.main import main as command
from groundwire.flow.settings import PREFIX, Settings, names, value_of

REFERENCE = Path(__file__).resolve().parent / "reference"

ABOUT: Mapping[str, str] = {
    "answer.form": "of an answer by a model: `sentences`, or `short`: a name, a number, a date, yes or no",
    "answer.language": "of an answer: `en`, `zh-TW` or `zh-CN`; empty: that of the question",
    "answer.least_coverage": "without a model: the share of the question's words that a sentence must hold, 0 to 1",
    "answer.model": "who answers: `llama:NAME` or `http:NAME`; empty: sentences of the archive word for word",
    "archive": "the folder of the archive",
    "embedder": "`local:e5-small`, `local:minilm` or `hash:DIM` (for tests)",
    "index.commit_sentences": "sentences a commit; what a kill can cost at most",
    "index.context": "what stands for the rest of a passage: `passage`, `exact`, `pooled_rest` or `pooled`; fixed when "
    "the archive is made",
    "index.folding": "Traditional and Simplified Chinese made alike for counting words: `characters`, `opencc:tw2sp` "
    "or `opencc:t2s` (both need the extra `zh`), or empty for none; fixed when the archive is made",
    "index.passage_tokens": "a passage grows to about this many tokens; fixed when the archive is made",
    "index.passage_words": "whether the words of whole passages are kept, for `search.passage_words`; fixed when the "
    "archive is made",
    "judge.embedder": "compares meaning beside words; empty: words alone",
    "judge.level": "of the bootstrap intervals, 0 to 1",
    "judge.map": "our field names of items = theirs",
    "judge.resamples": "draws for a bootstrap interval",
    "judge.seed": "of the bootstrap",
    "ledger": "the file that keeps every model call: what was paid for is not paid for again",
    "models": "endpoints of language models: `[models.NAME]` with `base_url`, `model` and more is called `http:NAME` "
    "(docs/guides/models.md); only in the file",
    "pack.headers": "whether title and date head the sentences of a document, and are paid for",
    "pack.near_duplicates": "drop a sentence whose words overlap by this share with one taken, with the same numbers",
    "pack.neighbours": "sentences on either side of a hit, where the budget holds 8 sentences or more",
    "pack.per_source": "sentences of one outlet before others are looked at first",
    "pack.per_story": "the same for documents that are versions of one story (wire copy)",
    "pack.tokenizer": "who counts: `estimate`, or `embedder` (its own tokens, where it counts them)",
    "prompts": "a folder with prompts of your own, which go before ours of the same name",
    "read.date_order": "`day` or `month`: which comes first in dates like 5/6/2024; without it they stay unread",
    "read.map": "our field names of documents = theirs",
    "search.budget_tokens": "what packed evidence may cost",
    "search.candidates": "sentences each side proposes to `hybrid`",
    "search.diversity": "0 (strength alone) to 1 (unlikeness alone) in the shape `diverse`",
    "search.fusion": "how `hybrid` mixes: `zscore` or `rrf`",
    "search.k": "sentences a search returns",
    "search.lexical_weight": "weight of the words beside 1 for the vectors",
    "search.mode": "`dense`, `lexical` or `hybrid`",
    "search.neighbours": "sentences on either side of a hit in the shape `windows`",
    "search.passage_words": "how much of the lexical value is that of the whole passage: 0 (sentence) to 1 (passage)",
    "search.passages": "passages that are read for the shape `sifted`",
    "search.phrases": "whether parts of the query in quotation marks must occur as they stand",
    "search.preset": "`passages`, `sentences`, `pareto`, `window`, `dslr`, `mmr` or `best`: sets those that belong to "
    "it (docs/method/search.md)",
    "search.sentence_weight": "0 (passage only) to 1 (sentence only)",
    "search.shape": "what hits become: `sentences`, `passages`, `windows`, `sifted` or `diverse`",
    "search.threshold": "standard deviations above the mean of the passages' sentences, in the shape `sifted`",
    "threads": "of a local embedder; as many as the machine has idle cores",
    "systems": "what `groundwire run` compares: `[systems.NAME]` with the keys `search`, `pack` and `answer` of its "
    'own, such as `search.preset = "best"`',
    "traffic.at_first": "calls in flight at the beginning of a run",
    "traffic.at_once": "the most calls in flight",
    "traffic.attempts": "how often a call is tried while the model is busy",
    "traffic.deadline_seconds": "of a whole run; without it there is none",
    "traffic.failures_in_a_row": "so many, and sending pauses",
    "traffic.pause_seconds": "how long that is; then one call is tried, and the run goes on or stops with it",
    "traffic.seed": "of the waits between attempts",
    "traffic.timeout_seconds": "of one call; local models are slow",
    "write.as_of": "the day the article speaks of as today (YYYY-MM-DD); sources dated later are not used",
    "write.bands": "above the first rating a source is in the band high, then middle, low, and trace for the rest",
    "write.best_at_least": "there is no article unless a source is rated this high, 0 to 100",
    "write.briefs": "what the writer gets of a source: `sentences` as they stand, `facts` that a model draws from them "
    "with their ids, `summaries` by a model as in ScoreRAG, or `none`",
    "write.candidates": "documents that a model rates, the first of the search; `builtin` rates all",
    "write.check": "who decides on claims: `gates`, or a `model` too, where they cannot settle it",
    "write.cite": "what the writing model cites: ids of `sentences`, numbers of `sources`, or `none`",
    "write.find": "what proposes the sources: `sentences`, `chunks` of 500 characters as in ScoreRAG, or `none`",
    "write.house_rules": "a file with the rules of your house (docs/guides/writing.md)",
    "write.keep_share": "sources rated below this share of the best are dropped, 0 to 1",
    "write.k": "sentences that propose the sources of an article",
    "write.keep_at_least": "sources rated below are dropped, 0 to 100",
    "write.language": "of the article; empty: that of the topic",
    "write.max_words": "the most words (for Chinese: half as many as characters) that a writing model is asked for",
    "write.model": "the model that writes, such as `http:NAME` or `llama:qwen2.5-coder-1.5b`; empty: the built-in one",
    "write.outline": "a file with the headings that the article is to have (docs/guides/writing.md)",
    "write.preset": "`best`, `scorerag`, `plain` or `zero-shot`: sets what belongs to it (docs/method/scorerag.md)",
    "write.rater": "who rates the sources: `builtin`, `expected`, `readings`, `yesno`, `likelihood`, or `none`",
    "write.readings": "how often the rater `readings` asks",
    "write.repair": "whether claims that are not supported are repaired, each change shown",
    "write.max_sources": "sources an article may cite",
    "write.max_tokens": "about how long the body of an article may become",
}


def settings_page() -> str:
    """Every setting with its default."""
    lines = [
        "# Settings",
        "",
        "Flag beats environment beats `groundwire.toml` in the current folder beats default. A dotted name is a table",
        "and a key in the file (`[search]`, `mode`), and one variable in the environment (`GROUNDWIRE_SEARCH_MODE`).",
        "Unknown names are refused, with the nearest that exists. `GROUNDWIRE_MODELS` moves the model folder and is no",
        "setting.",
        "",
        "| setting | default | variable | meaning |",
        "| --- | --- | --- | --- |",
    ]
    for name in names():
        default = str(value_of(Settings(), name)) or '""'
        lines.append(f"| `{name}` | `{default}` | `{PREFIX}{name.upper().replace('.', '_')}` | {ABOUT[name]} |")
    return "\n".join(lines) + "\n"


def commands_page() -> str:
    """The help of every command, as the terminal prints it."""
    lines = ["# Commands", "", "Printed by the commands themselves with `--help`.", ""]
    for path, found in walk(command, "groundwire"):
        context = click.Context(found, info_name=path, max_content_width=100, terminal_width=100)
        context.help_option_names = ["-h", "--help"]
        found._help_option = None  # what a context before this one made of it is kept there
        lines += [f"## {path}", "", "```text", found.get_help(context).rstrip(), "```", ""]
    return "\n".join(lines).rstrip() + "\n"


def walk(found: click.Command, path: str) -> Iterator[tuple[str, click.Command]]:
    """A command and those under it, in order of name."""
    yield path, found
    if isinstance(found, click.Group):
        for name in sorted(found.commands):
            yield from walk(found.commands[name], f"{path} {name}")


if __name__ == "__main__":
    (REFERENCE / "commands.md").write_text(commands_page(), encoding="utf-8")
    (REFERENCE / "settings.md").write_text(settings_page(), encoding="utf-8")
