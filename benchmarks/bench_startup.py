"""How long ``import groundwire`` and ``groundwire --help`` take, beside a bare interpreter and numpy in the same run.

Usage: python benchmarks/bench_startup.py [--runs 21]

Runs are interleaved; seconds are those of the whole process, CPU seconds its user and system time. Targets:
import < 0.3 s, --help < 0.5 s on an otherwise idle machine.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from pathlib import Path
from statistics import median

from record import save_result

COMMANDS = {
    "python -c pass": [sys.executable, "-c", "pass"],
    "import numpy": [sys.executable, "-c", "import numpy"],
    "import groundwire": [sys.executable, "-c", "import groundwire"],
    "groundwire --help": [str(Path(sys.executable).with_name("groundwire")), "--help"],
}


def timed(command: list[str]) -> tuple[float, float]:
    before, start = os.times(), time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    seconds, after = time.perf_counter() - start, os.times()
    spent = after.children_user + after.children_system - before.children_user - before.children_system
    return seconds, spent


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=21)
    runs = parser.parse_args().runs
    seen: dict[str, list[tuple[float, float]]] = {name: [] for name in COMMANDS}
    for number in range(runs + 1):
        for name, command in COMMANDS.items():
            measured = timed(command)
            if number:  # the first round fills the file cache
                seen[name].append(measured)
    figures = {
        name: {
            "n": len(rows),
            "seconds_min": round(min(row[0] for row in rows), 3),
            "seconds_median": round(median(row[0] for row in rows), 3),
            "cpu_seconds_median": round(median(row[1] for row in rows), 3),
        }
        for name, rows in seen.items()
    }
    for name, row in figures.items():
        print(f"{name:20} {row}")
    save_result("startup", {"load_average_at_the_end": os.getloadavg()[0], **figures})


if __name__ == "__main__":
    main()
