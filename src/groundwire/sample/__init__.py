"""Sample data, ours from nothing: ``stories.jsonl``, ``topics.jsonl``, ``questions.jsonl``; see ``README.md`` there."""
