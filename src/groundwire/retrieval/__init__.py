"""From files to ranked sentences: read, split, embed, index, search, pack."""
