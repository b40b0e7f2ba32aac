"""Joins the capabilities: settings, registry, pipeline, exports."""
