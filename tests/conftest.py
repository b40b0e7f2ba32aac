"""Property tests explore on a developer's machine; with CI set they try the same examples in every run."""

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("repeatable", derandomize=True)
if os.environ.get("CI"):
    settings.load_profile("repeatable")


@pytest.fixture
def plug_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], None]:
    """Installs source under a module's name as a plugin whose models are ``scripted:NAME``; its state begins anew."""

    def installed(module: str, source: str) -> None:
        folder = tmp_path / "plugins"
        about = folder / "scripts-1.0.dist-info"
        about.mkdir(parents=True)
        (folder / f"{module}.py").write_text(source)
        (about / "METADATA").write_text("Metadata-Version: 2.1\nName: scripts\nVersion: 1.0\n")
        (about / "entry_points.txt").write_text(f"[groundwire.models]\nscripted = {module}:make\n")
        monkeypatch.syspath_prepend(str(folder))
        monkeypatch.delitem(sys.modules, module, raising=False)

    return installed
