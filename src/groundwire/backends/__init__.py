"""Outside engines behind the ports of ``core.ports``, each imported at first use."""
