"""Write from an archive with citations that hold, and prove which retrieval-augmented pipeline is better."""
