"""A process in which many people talk to one Memora at once.

    python -m load.crowd SESSIONS USERS SECONDS SEED

The settings are in the environment. Prints one JSON object: ``said`` (see `Said`), ``samples`` (see `Sample`), ``kept``
(see `kept_of_turns`), and ``problems``: what was logged as an error, and what a session did not expect. The seed
decides what is said, what goes wrong with it and who is impatient.
"""

from __future__ import annotations

import gc
import json
import logging
import os
import random
import subprocess
import sys
import threading
import time
import traceback
from collections import Counter
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Literal

from load.marks import Mark

from memora.assembly import LOCAL_USER, App, build_app
from memora.settings import load_settings
from memora.turn.events import FINAL_STATES

FAULTY, IMPATIENT, HASTY = 0.05, 0.05, 0.1
"""The shares of messages with which something goes wrong, whose answers are stopped as soon as they begin, and after
which the next one is sent without waiting for an answer."""

HEALED = (
    "fail:500x1@1",  # by the client, which asks again
    "fail:429x2@1",
    "fail:refusedx1@1",
    "fail:garbledx1@extraction",  # by the write path, which asks again
    "fail:500x3@extraction",  # or begins again
    "fail:htmlx1@extraction",
    "slow:1@1",
)
"""Faults that nobody hears of."""
CURABLE = (
    "fail:cutx1@1",
    "fail:endx1@1",
    "fail:errorx1@1",
    "fail:failedx1@1",
    "fail:htmlx1@1",
    "fail:emptyx1@1",
)
"""Faults after which Try again helps."""
LASTING = ("fail:400@1", "fail:401@1", "fail:refusal@1", "fail:incomplete@1")
FAULTS = HEALED + CURABLE + LASTING

Kind = Literal["like", "home", "count", "recall"]
KINDS: tuple[Kind, ...] = ("like", "like", "home", "count", "recall")
PATIENCE_SECONDS = 90.0
SAMPLE_SECONDS = 0.5


@dataclass(frozen=True, kw_only=True)
class Said:
    """One message that was acknowledged; ``retried`` and ``stopped``: what its writer did about its answer."""

    user: int
    session: int
    number: int
    turn_id: str
    conversation_id: str
    kind: Kind
    text: str
    fault: str = ""
    stopped: bool = False
    retried: bool = False

    @property
    def mark(self) -> Mark:
        return Mark(user=self.user, session=self.session, number=self.number)

    @property
    def is_plain(self) -> bool:
        """Nothing was to go wrong with it, and its answer was waited for."""
        return not self.fault and not self.stopped


@dataclass(frozen=True, kw_only=True)
class Sample:
    """The process after ``turns`` turns: resident memory, threads other than the sessions' own, and open files."""

    turns: int
    rss_kb: int
    threads: int
    files: int


def sentence(kind: Kind, mark: Mark) -> str:
    """What is said: the mark comes back in the answer, or `words_of` words are counted (its letters are one)."""
    match kind:
        case "like":
            return f"I like {mark}."
        case "home":
            return f"I live in {mark}."
        case "count":
            return f"Count the words: {'word ' * (words_of(mark) - 1)}{mark}"
        case "recall":
            return f"Where do I live? {mark}"


def words_of(mark: Mark) -> int:
    """How many words a sentence to count has; neighbours in time differ."""
    return 3 + (mark.number * 7 + mark.session) % 40


@dataclass
class Session:
    """Somebody with one conversation of their own, who says one thing after the other."""

    app: App
    user: int
    number: int
    seed: str
    said: list[Said] = field(default_factory=list)

    def talk(self, *, until: float) -> None:
        """Go on until that reading of ``time.monotonic``, then wait for all answers."""
        chance = random.Random(f"{self.seed}/{self.number}")
        user_id = Mark(user=self.user, session=self.number, number=0).user_id
        conversation = self.app.turns.create_conversation(user_id=user_id, title="t", at=self.app.memory.clock())
        while time.monotonic() < until:
            mark = Mark(user=self.user, session=self.number, number=len(self.said))
            kind = chance.choice(KINDS)
            fault = chance.choice(FAULTS) if chance.random() < FAULTY else ""
            stopped, hasty = chance.random() < IMPATIENT, chance.random() < HASTY
            text = sentence(kind, mark) + (f" [[{fault}]]" if fault else "")
            turn = self.app.runner.submit(user_id=user_id, conversation_id=conversation.id, text=text)
            message = Said(
                **asdict(mark),
                turn_id=turn.id,
                conversation_id=conversation.id,
                kind=kind,
                text=text,
                fault=fault,
                stopped=stopped,
                retried=fault in CURABLE and not stopped,
            )
            self.said.append(message)
            if stopped:
                self.app.runner.stop(user_id=user_id, turn_id=turn.id)
            if message.retried:
                self._hear(message)
                self.app.runner.retry(user_id=user_id, turn_id=turn.id)
            if not hasty:
                self._hear(message)
        for message in self.said:
            self._hear(message)

    def _hear(self, message: Said) -> None:
        """Wait for the end of the answer and of a first attempt to learn from it."""
        log = self.app.runner.log(user_id=message.mark.user_id, turn_id=message.turn_id)
        cursor, deadline = 0, time.monotonic() + PATIENCE_SECONDS
        while log is not None and not log.closed:
            cursor += len(log.wait(cursor, timeout=1.0))
            assert time.monotonic() < deadline, f"{message} was never answered"
        turn = self.app.turns.turn(user_id=message.mark.user_id, turn_id=message.turn_id)
        assert turn.state in FINAL_STATES, f"{message} is {turn.state}"


class Complaints(logging.Handler):
    """Everything that was logged as an error, and what sessions ended with."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.heard: list[str] = []
        self.setFormatter(logging.Formatter())

    def emit(self, record: logging.LogRecord) -> None:
        self.heard.append(self.format(record))

    def during(self, session: Session, until: float) -> None:
        """Let the session talk; the boundary of its thread."""
        try:
            session.talk(until=until)
        except Exception:  # noqa: BLE001 - told to the parent
            self.heard.append(traceback.format_exc())


def main(sessions: int, users: int, seconds: float, seed: str) -> None:
    complaints = Complaints()
    logging.getLogger().addHandler(complaints)
    app = build_app(load_settings())
    while app.status(user_id=LOCAL_USER).index == "starting":
        time.sleep(0.05)
    crowd = [Session(app=app, user=number % users, number=number, seed=seed) for number in range(sessions)]
    until = time.monotonic() + seconds
    threads = [
        threading.Thread(target=complaints.during, args=(session, until), name=f"session-{session.number}")
        for session in crowd
    ]
    for thread in threads:
        thread.start()
    samples = []
    while any(thread.is_alive() for thread in threads):
        if time.monotonic() < until:
            samples.append(take_sample(crowd, others=sum(thread.is_alive() for thread in threads)))
        time.sleep(SAMPLE_SECONDS)
    kept = kept_of_turns()
    app.close()
    told = {
        "said": [asdict(message) for session in crowd for message in session.said],
        "samples": [asdict(sample) for sample in samples],
        "kept": kept,
        "problems": complaints.heard,
    }
    print(json.dumps(told))


def take_sample(crowd: list[Session], *, others: int) -> Sample:
    return Sample(
        turns=sum(len(session.said) for session in crowd),
        rss_kb=resident_kb(),
        threads=threading.active_count() - others,
        files=sum(1 for _ in Path("/dev/fd").iterdir()),
    )


def kept_of_turns() -> dict[str, int]:
    """What is still in memory of turns: how many logs, recorders, events and spans, by their names."""
    gc.collect()
    kinds = (type(thing) for thing in gc.get_objects())
    modules = [f"memora.turn.{name}" for name in ("log", "recorder", "events", "spans")]
    return Counter(kind.__name__ for kind in kinds if kind.__module__ in modules)


def resident_kb() -> int:
    """The resident memory of this process."""
    status = Path("/proc/self/status")
    if status.exists():
        return next(int(line.split()[1]) for line in status.read_text().splitlines() if line.startswith("VmRSS:"))
    return int(subprocess.check_output(["ps", "-o", "rss=", "-p", str(os.getpid())]))


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]), sys.argv[4])
