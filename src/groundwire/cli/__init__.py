"""The ``groundwire`` command."""
