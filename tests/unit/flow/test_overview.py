"""What doctor says of the parts of groundwire."""

import tomllib
from pathlib import Path

from groundwire.flow.overview import parts_of

PROJECT = tomllib.loads((Path(__file__).parents[3] / "pyproject.toml").read_text())["project"]


def test_the_parts_are_read_from_requirements_as_metadata_has_them() -> None:
    found = parts_of(
        [
            "click>=8.2",
            "markdown-it-py (>=3.0)",
            "lancedb<0.41,>=0.40; extra == 'archive'",
            'pyarrow>=18; extra == "archive"',
            "openai>=3.0 ; (python_version >= '3.11') and extra == 'remote'",
            "lancedb<0.41,>=0.40; extra == 'all'",
            "groundwire[archive,remote]; extra == 'all'",
            "",
        ]
    )

    assert found == {
        "core": ("click", "markdown-it-py"),
        "archive": ("lancedb", "pyarrow"),
        "remote": ("openai",),
    }


def test_every_package_of_the_project_file_is_in_a_part() -> None:
    optional = PROJECT["optional-dependencies"]
    lines = [*PROJECT["dependencies"]]
    lines += [f"{one}; extra == '{extra}'" for extra, packages in optional.items() for one in packages]

    found = parts_of(lines)

    assert "markdown-it-py" in found["core"]
    assert len(found["core"]) == len(PROJECT["dependencies"])
    assert {extra: len(packages) for extra, packages in found.items() if extra != "core"} == {
        extra: len(packages) for extra, packages in optional.items() if packages and extra != "all"
    }
