"""Killed in the middle of adding 20,000 rows, and run again: the archive is as if it had never been killed."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("lancedb", reason="the extra 'archive' is not installed")

ROWS = 20_000
SETTINGS = {"GROUNDWIRE_EMBEDDER": "hash:16", "GROUNDWIRE_INDEX_COMMIT_SENTENCES": "4000"}


def command(folder: Path, archive: str) -> list[str]:
    return [sys.executable, "-m", "groundwire", "add", str(folder / "rows.jsonl"), "--archive", str(folder / archive)]


def run(folder: Path, archive: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command(folder, archive),
        env={**os.environ, **SETTINGS},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


def commits(archive: Path) -> int:
    return len(list(archive.glob("**/sentences.lance/_versions/*.manifest")))


def kill_after(folder: Path, archive: str, *, more_commits: int) -> None:
    wanted = commits(folder / archive) + more_commits
    started = subprocess.Popen(
        command(folder, archive), env={**os.environ, **SETTINGS}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    while commits(folder / archive) < wanted:
        assert started.poll() is None, "the run ended before it could be killed"
        time.sleep(0.01)
    started.send_signal(signal.SIGKILL)
    started.wait()


def contents(path: Path) -> tuple[dict[str, str], dict[str, list[tuple[str, int, int, str]]], np.ndarray]:
    """Every document's revision, every sentence, and what the vectors answer to a fixed query."""
    from groundwire.core.types import Filter
    from groundwire.flow.archives import open_archive

    archive = open_archive(path, create=False)
    revisions = dict(archive.store.revisions())
    sentences = {
        name: [(each.id, each.start, each.end, each.text) for each in found]
        for name, found in archive.sentences(sorted(revisions)).items()
    }
    ids = [row[0] for name in sorted(sentences)[:50] for row in sentences[name]]
    query = np.arange(1, 33, dtype=np.float32)
    values = {match.sentence.id: match.value for match in archive.store.dense(query, k=200, where=Filter(), among=ids)}
    archive.close()
    return revisions, sentences, np.array([values[name] for name in ids])


def test_kill_9_while_adding_20000_rows_loses_and_doubles_nothing(tmp_path: Path) -> None:
    with (tmp_path / "rows.jsonl").open("w", encoding="utf-8") as out:
        for number in range(ROWS):
            text = f"Gauge {number} on the river read {number % 977} centimetres. The {number % 31}th watch was told."
            out.write(json.dumps({"id": f"row-{number:05}", "text": text, "source": f"paper {number % 7}"}) + "\n")

    kill_after(tmp_path, "killed.archive", more_commits=3)
    kill_after(tmp_path, "killed.archive", more_commits=3)
    again = run(tmp_path, "killed.archive")
    whole = run(tmp_path, "whole.archive")

    assert (again.returncode, whole.returncode) == (0, 0), again.stderr + whole.stderr
    assert "20,000 new" in whole.stderr
    killed, unharmed = contents(tmp_path / "killed.archive"), contents(tmp_path / "whole.archive")
    assert len(unharmed[0]) == ROWS
    assert killed[0] == unharmed[0]
    assert killed[1] == unharmed[1]
    np.testing.assert_array_equal(killed[2], unharmed[2])
    assert "20,000 unchanged" in run(tmp_path, "killed.archive").stderr
