"""From ranked sentences to a checked article: score, summarise, write, verify."""
