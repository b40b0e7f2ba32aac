"""The ledger: every model call in one SQLite file, written down before it is sent and after it came back.

It is cache, journal, bill and memory of runs at once. A reply that stands here is used again instead of a call; a call
that was sent and never answered (the process was killed) is made again and counted as ``lost``. Replies are data: they
are stored as text and never evaluated. No key of an endpoint ever reaches this module.

Several processes may share a file: a call is claimed by its row, for as long as its lease, and whoever wants the same
reply meanwhile waits for it.
"""

from __future__ import annotations

import json
import os
import platform
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Literal, Self
from uuid import uuid4

from groundwire.core.errors import CannotDo
from groundwire.core.language import Reply, Request, Usage
from groundwire.flow.records import (
    APPLICATION,
    FORMAT,
    PRUNING,
    TABLES,
    Bill,
    CallState,
    Claim,
    Cost,
    Pruned,
    Recorded,
    RunRow,
    Sent,
    Taken,
    Use,
    is_gone,
    reply_as_text,
    reply_from_text,
    request_as_text,
    storable,
)

AskMode = Literal["resume", "fresh", "replay"]
"""``resume``: replies of the ledger first, calls for the rest; ``fresh``: only replies made by this very run;
``replay``: the ledger alone, no call is possible."""

_WAIT_SECONDS = 30
_AGAIN_SECONDS = 0.02
_MOST_COUNT = 2**63 - 1  # what a column holds; a server may say anything


class Ledger:
    """A ledger file, open; safe to use from several threads, and from several processes at once."""

    def __init__(self, path: str | Path, *, create: bool = True, clock: Callable[[], float] = time.time) -> None:
        """Open a ledger.

        Args:
            path: the file.
            create: make it where there is none.
            clock: seconds since 1970, for leases and records.

        Raises:
            CannotDo: there is no file and none is to be made; it is damaged, of a later version, or something else.
        """
        self.path = Path(path)
        self.holder = f"{platform.node() or '-'} {os.getpid()} {uuid4().hex[:12]}"
        self._clock = clock
        self._lock = threading.RLock()
        if not create and not self.path.exists():
            raise CannotDo(f"there is no ledger {self.path}. Name another with --ledger, or make a run first")
        try:
            self._connection = sqlite3.connect(
                self.path, timeout=_WAIT_SECONDS, isolation_level=None, check_same_thread=False
            )
        except sqlite3.Error as error:
            raise self._explained(error) from error
        try:
            self._prepare()
        except BaseException:
            self._connection.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Give the file back; the ledger is not used afterwards."""
        with self._lock:
            self._connection.close()

    def replies(self, keys: Iterable[str], *, made_by: str = "", used_by: str = "") -> dict[str, Recorded]:
        """The replies that the ledger holds for these keys, the latest of each.

        Args:
            keys: see ``Request.key``.
            made_by: only of calls that this run made; empty: of any.
            used_by: only those that this run worked with; empty: any.
        """
        with self._held() as connection:
            rows = connection.execute(
                "SELECT key, id, reply, seconds FROM calls WHERE state = 'answered'"
                " AND key IN (SELECT value FROM json_each(:keys)) AND (:made_by = '' OR run = :made_by)"
                " AND (:used_by = '' OR id IN (SELECT call FROM uses WHERE run = :used_by)) ORDER BY id",
                {"keys": json.dumps(list(keys)), "made_by": made_by, "used_by": used_by},
            ).fetchall()
        return {key: self._recorded(call, reply, seconds) for key, call, reply, seconds in rows}

    def claim(self, request: Request, *, model: str, run: str, lease_seconds: float, mode: AskMode = "resume") -> Claim:
        """Write down that a call is about to be sent, unless its reply is here or somebody else is at it.

        A claim whose lease is over or whose process is gone is void, and its call becomes ``lost``.

        Args:
            request: what is asked.
            model: its id.
            run: the id of the run that asks.
            lease_seconds: after this time the call counts as never answered; longer than its time-out.
            mode: ``fresh`` looks only at calls of this run.
        """
        key, now = request.key(model), self._clock()
        made_by = run if mode == "fresh" else ""
        with self._changing() as connection:
            known = connection.execute(
                "SELECT id, state, holder, lease, reply, seconds FROM calls WHERE key = :key"
                " AND state IN ('sent', 'answered') AND (:made_by = '' OR run = :made_by) ORDER BY state, id DESC",
                {"key": key, "made_by": made_by},
            ).fetchall()
            for call, state, holder, lease, reply, seconds in known:
                if state == CallState.ANSWERED:
                    _use(connection, run, {key: call})
                    return self._recorded(call, reply, seconds)
                if lease > now and not is_gone(holder):
                    return Taken()
                connection.execute("UPDATE calls SET state = 'lost' WHERE id = ?", (call,))
            connection.execute("INSERT OR IGNORE INTO requests VALUES (?, ?)", (key, request_as_text(request)))
            made = connection.execute(
                "INSERT INTO calls (run, key, model, purpose, state, holder, lease, sent)"
                " VALUES (?, ?, ?, ?, 'sent', ?, ?, ?)",
                (run, key, model, request.purpose, self.holder, now + lease_seconds, now),
            )
        return Sent(made.lastrowid or 0)

    def answered(self, call: int, reply: Reply, *, seconds: float, cost: Cost | None = None) -> None:
        """Keep the reply of a call, whole."""
        with self._changing() as connection:
            connection.execute(
                "UPDATE calls SET state = 'answered', error = '', seconds = ?, reply = ?, finish = ? WHERE id = ?",
                (seconds, reply_as_text(reply), reply.finish, call),
            )
            _count(connection, call, usage=reply.usage, cost=cost)
            run, key = connection.execute("SELECT run, key FROM calls WHERE id = ?", (call,)).fetchone()
            _use(connection, run, {key: call})

    def never_sent(self, run: str, keys: Iterable[str]) -> None:
        """Take back claims of this process that an interrupt left before their calls were sent."""
        with self._changing() as connection:
            connection.execute(
                "DELETE FROM calls WHERE state = 'sent' AND run = ? AND holder = ?"
                " AND key IN (SELECT value FROM json_each(?))",
                (run, self.holder, json.dumps(list(keys))),
            )

    def failed(
        self, call: int, error: str, *, seconds: float, usage: Usage | None = None, cost: Cost | None = None
    ) -> None:
        """Keep why a call failed, and what it took all the same."""
        with self._changing() as connection:
            connection.execute(
                "UPDATE calls SET state = 'failed', error = ?, seconds = ? WHERE id = ?",
                (storable(error), seconds, call),
            )
            _count(connection, call, usage=usage or Usage(0, 0), cost=cost)

    def past_seconds(self, model: str, purpose: str) -> tuple[int, float]:
        """How many calls of a model were answered for a purpose, and how many seconds they took on average."""
        with self._held() as connection:
            calls, seconds = connection.execute(
                "SELECT COUNT(*), COALESCE(AVG(seconds), 0) FROM calls"
                " WHERE model = ? AND purpose = ? AND state = 'answered'",
                (model, purpose),
            ).fetchone()
        return int(calls), float(seconds)

    def bill(self, run: str = "") -> Bill:
        """What the calls of a run came to; of all runs where none is named."""
        with self._held() as connection:
            rows = connection.execute(
                "SELECT state, input_tokens, output_tokens, cached_tokens, seconds, estimated, money, currency"
                " FROM calls WHERE :run = '' OR run = :run ORDER BY id",
                {"run": run},
            ).fetchall()
        states = [row[0] for row in rows]
        money: dict[str, Decimal] = {}
        for *_, amount, currency in rows:
            if amount is not None:
                money[currency] = money.get(currency, Decimal(0)) + Decimal(amount)
        return Bill(
            answered=states.count(CallState.ANSWERED),
            failed=states.count(CallState.FAILED),
            unanswered=states.count(CallState.SENT) + states.count(CallState.LOST),
            input_tokens=sum(row[1] for row in rows),
            output_tokens=sum(row[2] for row in rows),
            cached_tokens=sum(row[3] for row in rows),
            estimated_tokens=sum(row[1] + row[2] for row in rows if row[5]),
            seconds=sum(row[4] for row in rows),
            money=tuple(Cost(amount, currency) for currency, amount in sorted(money.items())),
        )

    def begin(self, requests: Iterable[tuple[Request, str]], *, model: str, run: str) -> None:
        """Write down what a run asks next, in order: requests with their keys."""
        with self._changing() as connection:
            (first,) = connection.execute(
                "SELECT COALESCE(MAX(place) + 1, 0) FROM uses WHERE run = ?", (run,)
            ).fetchone()
            for place, (request, key) in enumerate(requests, start=first):
                connection.execute("INSERT OR IGNORE INTO requests VALUES (?, ?)", (key, request_as_text(request)))
                connection.execute(
                    "INSERT INTO uses (run, place, key, model, purpose) VALUES (?, ?, ?, ?, ?)",
                    (run, place, key, model, request.purpose),
                )

    def use(self, run: str, calls: Mapping[str, int]) -> None:
        """Write down which calls a run takes its replies from, by key."""
        with self._changing() as connection:
            _use(connection, run, calls)

    def fail(self, run: str, failures: Mapping[str, str]) -> None:
        """Write down which requests of a run, by key, came to nothing, and why (JSON)."""
        with self._changing() as connection:
            connection.executemany(
                "UPDATE uses SET failure = ? WHERE run = ? AND key = ? AND call IS NULL AND failure = ''",
                [(why, run, key) for key, why in failures.items()],
            )

    def failures(self, run: str) -> dict[str, str]:
        """Why requests of a run came to nothing (JSON), by key."""
        with self._held() as connection:
            rows = connection.execute("SELECT key, failure FROM uses WHERE run = ? AND failure != ''", (run,))
            return dict(rows.fetchall())

    def uses(self, run: str) -> tuple[Use, ...]:
        """What a run asked, in order, with what came of it."""
        with self._held() as connection:
            rows = connection.execute(
                "SELECT uses.place, uses.key, uses.model, uses.purpose, requests.request, calls.reply, uses.failure"
                " FROM uses JOIN requests ON requests.key = uses.key LEFT JOIN calls ON calls.id = uses.call"
                " WHERE uses.run = ? ORDER BY uses.place",
                (run,),
            ).fetchall()
        return tuple(Use(*row) for row in rows)

    def put_run(self, run: str, manifest: str, *, state: str) -> None:
        """Write down a run, new or as it now is; ``manifest`` is JSON."""
        with self._changing() as connection:
            connection.execute("INSERT OR REPLACE INTO runs VALUES (?, ?, ?, ?)", (run, state, self.holder, manifest))

    def runs(self) -> tuple[RunRow, ...]:
        """All runs, the oldest first."""
        with self._held() as connection:
            rows = connection.execute("SELECT id, state, manifest, holder FROM runs ORDER BY id").fetchall()
        return tuple(RunRow(run, state, manifest, not is_gone(holder)) for run, state, manifest, holder in rows)

    def prune(self, runs: Iterable[str], *, dry_run: bool = False) -> Pruned:
        """Drop runs with their calls, but no reply that another run works with; the file shrinks.

        Args:
            runs: ids.
            dry_run: only say what would go.

        Raises:
            CannotDo: the ledger is in use; nothing was dropped, or only the file did not shrink (the message says).
        """
        with self._changing() as connection:
            connection.execute(
                "CREATE TEMP TABLE going AS SELECT value AS id FROM json_each(?)", [json.dumps(list(runs))]
            )
            gone = connection.execute("SELECT id FROM runs WHERE id IN (SELECT id FROM going) ORDER BY id").fetchall()
            calls, _, _, requests, _ = (connection.execute(statement).rowcount for statement in PRUNING)
            (kept,) = connection.execute("SELECT COUNT(*) FROM calls WHERE run NOT IN (SELECT id FROM runs)").fetchone()
            if dry_run:
                connection.execute("ROLLBACK")
        found = Pruned(tuple(run for (run,) in gone), calls, kept, requests)
        if dry_run:
            return found
        with self._held() as connection:
            before = _bytes(connection)
            connection.execute("VACUUM")
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            return replace(found, freed_bytes=before - _bytes(connection))

    def _recorded(self, call: int, reply: str | None, seconds: float) -> Recorded:
        return Recorded(call, reply_from_text(reply, where=f"call {call} in {self.path}"), seconds)

    @contextmanager
    def _held(self) -> Iterator[sqlite3.Connection]:
        """The connection, for this thread alone; what SQLite says becomes an error of ours."""
        with self._lock:
            try:
                yield self._connection
            except sqlite3.Error as error:
                raise self._explained(error) from error

    @contextmanager
    def _changing(self) -> Iterator[sqlite3.Connection]:
        """The connection in a transaction that nobody else writes beside: all of it is kept, or none."""
        with self._held() as connection, connection:
            connection.execute("BEGIN IMMEDIATE")
            yield connection

    def _prepare(self) -> None:
        """Look at what the file is before anything in it is touched, then make what is missing."""
        with self._held() as connection:
            if self._is_empty(connection):
                with connection:
                    connection.execute("BEGIN IMMEDIATE")
                    if self._is_empty(connection):
                        for statement in TABLES.split(";"):
                            connection.execute(statement)
                        connection.execute(f"PRAGMA application_id = {APPLICATION}")
                        connection.execute(f"PRAGMA user_version = {FORMAT}")
            _share(connection)
            # A reply that was paid for is worth the wait for the disk: it must outlive a power cut too.
            connection.execute("PRAGMA synchronous = FULL")

    def _is_empty(self, connection: sqlite3.Connection) -> bool:
        """Whether there is nothing yet; refuses what is no ledger of this format."""
        application, version, tables = connection.execute(  # in one statement: somebody else may be making it
            "SELECT application_id, user_version, (SELECT COUNT(*) FROM sqlite_master)"
            " FROM pragma_application_id, pragma_user_version"
        ).fetchone()
        if application == 0 and tables == 0:
            return True
        if application != APPLICATION:
            raise CannotDo(f"{self.path} is a database of something else, not a ledger; nothing in it was changed")
        if version != FORMAT:
            raise CannotDo(
                f"{self.path} is a ledger of format {version}, this groundwire reads format {FORMAT}; nothing in it"
                " was changed. Update groundwire, or name another file with --ledger"
            )
        return False

    def _explained(self, error: sqlite3.Error) -> CannotDo:
        name = getattr(error, "sqlite_errorname", "") or ""
        if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
            return CannotDo(f"{self.path} was held by another process for more than {_WAIT_SECONDS} seconds; try again")
        if name.startswith(("SQLITE_NOTADB", "SQLITE_CORRUPT")):
            return CannotDo(
                f"{self.path} is damaged or no ledger ({error}); nothing in it was changed. Restore it from a copy, or"
                " name another file with --ledger: then every call is made again"
            )
        return CannotDo(f"the ledger {self.path} cannot be used: {error}")


def _share(connection: sqlite3.Connection) -> None:
    """Let others read while one writes; the switch itself fails at once where another opens the new file, too."""
    ends = time.monotonic() + _WAIT_SECONDS
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > ends:
                raise
            time.sleep(_AGAIN_SECONDS)
        else:
            return


def _bytes(connection: sqlite3.Connection) -> int:
    return int(
        connection.execute("SELECT page_count * page_size FROM pragma_page_count, pragma_page_size").fetchone()[0]
    )


def _count(connection: sqlite3.Connection, call: int, *, usage: Usage, cost: Cost | None) -> None:
    """What a call took; a server may say any number."""
    tokens = (min(count, _MOST_COUNT) for count in (usage.input_tokens, usage.output_tokens, usage.cached_tokens))
    connection.execute(
        "UPDATE calls SET input_tokens = ?, output_tokens = ?, cached_tokens = ?, estimated = ?, money = ?,"
        " currency = ? WHERE id = ?",
        (*tokens, usage.estimated, str(cost.amount) if cost else None, cost.currency if cost else None, call),
    )


def _use(connection: sqlite3.Connection, run: str, calls: Mapping[str, int]) -> None:
    connection.executemany(
        "UPDATE uses SET call = ? WHERE run = ? AND key = ? AND call IS NULL AND failure = ''",
        [(call, run, key) for key, call in calls.items()],
    )
