"""``python -m groundwire`` is the ``groundwire`` command."""

from groundwire.cli.main import run

run()
