"""The benchmarks stand alone: each starts from its own file, as its first lines say."""

import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[2] / "benchmarks"
COMMANDS = sorted(path for path in FOLDER.glob("*.py") if "ArgumentParser" in path.read_text())


@pytest.mark.parametrize("path", COMMANDS, ids=lambda path: path.stem)
def test_a_benchmark_starts_from_anywhere_and_says_its_options(path: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(path), "--help"], check=False, cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert "usage:" in done.stdout
