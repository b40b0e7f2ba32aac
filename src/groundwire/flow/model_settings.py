"""What the settings say of language models: who they are, how fast they may be called, and what they cost."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from decimal import Decimal

from groundwire.core.language import LanguageModel
from groundwire.flow.ledger import Ledger
from groundwire.flow.manifests import known_capabilities
from groundwire.flow.pace import Limits
from groundwire.flow.plan import Price
from groundwire.flow.registry import model
from groundwire.flow.settings import Settings

_REMOTE = "http:"
_LOCAL = "llama:"


def model_of(name: str, *, settings: Settings, environment: Mapping[str, str], ledger: Ledger) -> LanguageModel:
    """The model of this name; what the ledger knows of an endpoint is not asked again.

    Raises:
        UsageError, SettingError, ModelError: as ``registry.model``.
    """
    return model(
        name,
        profiles=settings.models,
        environment=environment,
        capabilities=known_capabilities(ledger, name),
        threads=settings.threads,
    )


def limits_of(settings: Settings, names: Iterable[str]) -> Limits:
    """How models may be called together: as the settings say of traffic, and no more at once than each of them bears.

    A local model answers one call at a time, so that further ones would only wait inside their time-out.
    """
    how = settings.traffic
    given = list(names)
    profiles = [profile for name, profile in settings.models.items() if f"{_REMOTE}{name}" in given]
    most = [how.at_once, *(profile.max_concurrency for profile in profiles)]
    at_once = 1 if any(name.startswith(_LOCAL) for name in given) else min(most)
    return Limits(
        at_first=min(how.at_first, at_once),
        at_once=at_once,
        attempts=how.attempts,
        timeout_seconds=min(how.timeout_seconds, *(profile.timeout_seconds for profile in profiles), math.inf),
        deadline_seconds=how.deadline_seconds,
        failures_in_a_row=how.failures_in_a_row,
        pause_seconds=how.pause_seconds,
        seed=how.seed,
    )


def prices_of(settings: Settings) -> dict[str, Price]:
    """Prices by model id, of those whose settings name both; a model in this process costs no money."""
    return {
        f"{_REMOTE}{name}": Price(_exact(profile.input_price), _exact(profile.output_price), currency=profile.currency)
        for name, profile in settings.models.items()
        if profile.input_price is not None and profile.output_price is not None
    }


def _exact(price: float | None) -> Decimal:
    return Decimal(str(price or 0))
