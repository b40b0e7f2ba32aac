"""Nouns, errors, ports and text: what every other part of groundwire stands on."""
