"""A run of many calls, to be started as a process and killed: ``python asking_child.py URL LEDGER OUT COUNT``."""

import signal
import sys
from pathlib import Path

from groundwire.backends.remote_models import Profile, RemoteModel
from groundwire.core.language import Capabilities, Message, Request
from groundwire.flow.ledger import Ledger
from groundwire.flow.manifests import find_run
from groundwire.flow.pace import Limits
from groundwire.flow.runs import How, recorded
from groundwire.flow.settings import Loaded, Settings


def work(url: str, *, file: Path, out: Path, count: int, replay: str = "") -> tuple[str, ...]:
    """Ask ``count`` questions, write replies and provenance to ``out``; returns what a replay found different."""
    requests = [Request((Message("user", f"question {number}"),), 20, seed=7) for number in range(count)]
    with Ledger(file) as ledger:
        replayed = find_run(ledger, replay).manifest if replay else None
        how = How(limits=Limits(at_first=4, at_once=4, first_wait_seconds=0.05))
        with recorded(ledger, command=["test"], settings=Loaded(Settings(), {}), how=how, replay_of=replayed) as run:
            run.seed("requests", 7)
            run.input("questions", b"as many questions")
            profile = Profile(url, "stub-model")
            able = Capabilities(context_tokens=8000)
            model = run.model("http:stub", lambda: RemoteModel("stub", profile, capabilities=able))
            answers = run.ask(requests, model=model)
            text = "".join(f"{answer.reply.text}\n" for answer in answers if answer.reply)
            made = (text + run.provenance()).encode()
            run.output("out", made)
            out.write_bytes(made)
            return run.differences


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job ignores it, and so its children
    given_url, given_file, given_out, given_count = sys.argv[1:]
    work(given_url, file=Path(given_file), out=Path(given_out), count=int(given_count))
