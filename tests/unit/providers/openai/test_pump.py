from __future__ import annotations

import threading

import pytest

from memora.errors import Cancelled
from memora.model import CancelToken
from memora.providers.openai.pump import Line, pump, stop_if_hung_up


def test_what_the_worker_sends_arrives_in_order() -> None:
    def work(line: Line[int]) -> None:
        for number in range(5):
            line.send(number)

    assert list(pump(work, cancel=CancelToken())) == [0, 1, 2, 3, 4]


def test_what_the_worker_raises_is_raised_after_what_it_sent() -> None:
    def work(line: Line[int]) -> None:
        line.send(1)
        raise SystemExit(3)

    arrivals = pump(work, cancel=CancelToken())
    assert next(arrivals) == 1
    with pytest.raises(SystemExit):
        next(arrivals)


def test_stop_frees_the_reader_while_the_worker_is_stuck() -> None:
    release, cancel = threading.Event(), CancelToken()

    def work(line: Line[int]) -> None:
        line.send(1)
        cancel.cancel()
        release.wait()

    arrivals = pump(work, cancel=cancel)
    try:
        assert next(arrivals) == 1
        with pytest.raises(Cancelled):
            next(arrivals)
    finally:
        release.set()


def test_what_arrived_before_stop_is_kept() -> None:
    cancel = CancelToken()

    def work(line: Line[int]) -> None:
        line.send(1)
        line.send(2)
        cancel.cancel()
        line.send(3)

    arrived = []
    with pytest.raises(Cancelled):
        for number in pump(work, cancel=cancel):
            arrived.append(number)
    assert arrived == [1, 2]


def test_a_reader_that_leaves_hangs_up() -> None:
    hung_up = threading.Event()

    def work(line: Line[int]) -> None:
        line.hung_up.on_cancel(hung_up.set)
        line.send(1)
        hung_up.wait()

    arrivals = pump(work, cancel=CancelToken())
    next(arrivals)
    arrivals.close()  # type: ignore[attr-defined]
    assert hung_up.wait(5)


def test_no_attempt_leaves_after_hanging_up() -> None:
    raised: list[BaseException] = []
    done, cancel = threading.Event(), CancelToken()

    def work(line: Line[int]) -> None:
        stop_if_hung_up(object())
        cancel.cancel()
        try:
            stop_if_hung_up(object())
        except Cancelled as error:
            raised.append(error)
        done.set()

    with pytest.raises(Cancelled):
        list(pump(work, cancel=cancel))
    assert done.wait(5)
    assert len(raised) == 1


def test_the_hook_lets_requests_of_other_threads_pass() -> None:
    stop_if_hung_up(object())
