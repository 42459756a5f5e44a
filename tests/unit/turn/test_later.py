import threading
from queue import SimpleQueue

import pytest

from memora.turn.later import Later


@pytest.fixture
def later():
    later = Later(name="test-later")
    yield later
    later.close()


def test_jobs_are_called_when_their_time_has_come_whatever_the_order_in_which_they_were_given(later):
    called = SimpleQueue()
    for seconds in (1.0, 0.0, 0.5):
        later.call(lambda seconds=seconds: called.put(seconds), seconds=seconds)
    assert [called.get(timeout=10) for _ in range(3)] == [0.0, 0.5, 1.0]


def test_a_job_that_is_due_earlier_does_not_wait_for_the_one_before_it(later):
    done = threading.Event()
    later.call(lambda: None, seconds=600)
    later.call(done.set, seconds=0)
    assert done.wait(10)


def test_many_jobs_wait_on_one_thread(later):
    for _ in range(1_000):
        later.call(lambda: None, seconds=600)
    assert sum(thread.name == "test-later" for thread in threading.enumerate()) == 1


def test_after_close_nothing_is_called_and_the_thread_ends(later):
    called = []
    later.call(lambda: called.append(1), seconds=0.05)
    later.close()
    later.call(lambda: called.append(2), seconds=0)
    later._thread.join(10)
    assert (called, later._thread.is_alive()) == ([], False)
