"""Which language models there are and what they can do, for ``doctor``; no key is ever shown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from groundwire.core.errors import GroundwireError, ModelError
from groundwire.core.language import Capabilities
from groundwire.flow.ledger import Ledger
from groundwire.flow.manifests import known_capabilities
from groundwire.flow.registry import model
from groundwire.flow.settings import Loaded, ModelOptions

State = tuple[str, str, str]


def model_states(loaded: Loaded, *, environment: Mapping[str, str]) -> Iterator[State]:
    """Part, state and a remark for every endpoint of the settings, and for every language model that is here.

    What the ledger knows of an endpoint is shown without asking; one that it does not know is asked with three or four
    short calls. One that cannot be reached is said so within its ``connect_seconds``.
    """
    for name, options in loaded.settings.models.items():
        yield _endpoint(name, options, loaded=loaded, environment=environment)
    yield from _local()


def _endpoint(name: str, options: ModelOptions, *, loaded: Loaded, environment: Mapping[str, str]) -> State:
    called = f"http:{name}"
    part, about = "model", f"{called} ({options.model} at {options.base_url})"
    try:
        stored = _stored(called, Path(loaded.settings.ledger))
        found = model(called, profiles=loaded.settings.models, environment=environment, capabilities=stored)
        _require_key(options, environment)
        _require_reachable(called, options)
        able = found.capabilities()
    except GroundwireError as error:
        return (part, "missing", f"{about}: {error}")
    noted = getattr(found, "notes", ())
    said = "; ".join((_in_words(able, "as the ledger knows" if stored else "as it was just found"), *noted))
    return (part, "works", f"{about}: {said}")


def _stored(called: str, ledger: Path) -> Capabilities | None:
    if not ledger.exists():
        return None
    with Ledger(ledger, create=False) as opened:
        return known_capabilities(opened, called)


def _require_key(options: ModelOptions, environment: Mapping[str, str]) -> None:
    if options.key_variable and not environment.get(options.key_variable):
        raise ModelError(f"its key is not in the environment; set {options.key_variable}")


def _require_reachable(called: str, options: ModelOptions) -> None:
    from groundwire.backends.remote_profile import Profile
    from groundwire.backends.remote_reach import require_listening

    host, port = Profile(**dict(options)).address
    try:
        require_listening(host, port, seconds=options.connect_seconds)
    except OSError as error:
        raise ModelError(
            f"nothing answers at {host}:{port} ({error}). Start the server of '{called}', or change base_url"
        ) from error


def _in_words(able: Capabilities, origin: str) -> str:
    """What a model can do, and what it cannot."""
    context = f"{able.context_tokens:,} tokens of context" if able.context_tokens else "context not told"
    parts = {
        "replies after a schema": able.schema,
        f"{able.logprobs} log-probabilities a token" if able.logprobs else "log-probabilities": bool(able.logprobs),
        "likelihoods": able.likelihood,
        "a system's turn": able.system,
        "streaming": able.streaming,
    }
    can = ", ".join(name for name, there in parts.items() if there) or "text alone"
    cannot = ", ".join(name for name, there in parts.items() if not there)
    thinks = ", thinks aloud" if able.thinking else ""
    return f"{context}, {can}{thinks}" + (f"; not: {cannot}" if cannot else "") + f" ({origin})"


def _local() -> Iterator[State]:
    from groundwire.backends.model_files import available

    for listed in available():
        if listed.model.kind == "gguf" and listed.path:
            yield ("model", "works", f"llama:{listed.model.name}: here, {listed.path.stat().st_size / 1e6:,.0f} MB")
