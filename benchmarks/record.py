"""Keep what was measured: figures with date, machine, versions, command and seed."""

from __future__ import annotations

import json
import os
import platform
import sys
from datetime import date
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

RESULTS = Path(__file__).resolve().parent / "results"
_PACKAGES = ("groundwire", "numpy", "lancedb", "pyarrow", "onnxruntime", "tokenizers", "sentencex")


def circumstances(seed: int | None) -> dict[str, object]:
    """Date, processor, cores, versions, command (paths shortened to their names) and seed."""
    words = [Path(word).name if os.sep in word else word for word in sys.argv]
    return {
        "date": date.today().isoformat(),
        "cpu": _cpu(),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "versions": {name: _version(name) for name in _PACKAGES},
        "command": " ".join(["python", f"benchmarks/{words[0]}", *words[1:]]),
        "seed": seed,
    }


def save_result(name: str, figures: object, *, seed: int | None = None) -> Path:
    """Write ``results/NAME.json`` and return its path."""
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{name}.json"
    path.write_text(
        json.dumps({**circumstances(seed), "figures": figures}, indent=2, ensure_ascii=False) + "\n", encoding="utf-8"
    )
    print(f"wrote benchmarks/results/{path.name}", file=sys.stderr)
    return path


def _cpu() -> str:
    names = [line for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")]
    return names[0].partition(":")[2].strip() if names else platform.processor()


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"
