"""From answers to judgements with intervals: measure, judge, compare."""
