import threading

from memora.turn.lanes import Lanes


def test_jobs_of_one_lane_run_in_the_order_they_came():
    lanes, seen, done = Lanes(workers=4, name="t"), [], threading.Event()
    for number in range(50):
        lanes.submit("a", lambda number=number: seen.append(number))
    lanes.submit("a", done.set)
    assert done.wait(5)
    assert seen == list(range(50))
    lanes.close(timeout=1)


def test_a_lane_that_waits_does_not_hold_up_another():
    lanes, gate, other = Lanes(workers=2, name="t"), threading.Event(), threading.Event()
    lanes.submit("slow", gate.wait)
    lanes.submit("quick", other.set)
    assert other.wait(5)
    gate.set()
    lanes.close(timeout=1)


def test_two_jobs_of_one_lane_never_run_at_once():
    lanes, busy, overlaps, done = Lanes(workers=4, name="t"), threading.Lock(), [], threading.Event()

    def job():
        if not busy.acquire(blocking=False):
            overlaps.append(1)
            return
        threading.Event().wait(0.002)
        busy.release()

    for _ in range(30):
        lanes.submit("a", job)
    lanes.submit("a", done.set)
    assert done.wait(5)
    assert overlaps == []
    lanes.close(timeout=1)


def test_a_job_that_raises_does_not_take_its_thread_along(caplog):
    lanes, done = Lanes(workers=1, name="t"), threading.Event()
    lanes.submit("a", lambda: 1 / 0)
    lanes.submit("a", done.set)
    assert done.wait(5)
    assert "a background job failed" in caplog.text
    lanes.close(timeout=1)


def test_a_job_that_waits_can_be_taken_back_and_one_that_runs_cannot():
    lanes, started, gate, ran, done = (
        Lanes(workers=1, name="t"),
        threading.Event(),
        threading.Event(),
        [],
        threading.Event(),
    )

    def first():
        started.set()
        gate.wait(5)

    def second():
        ran.append(2)

    for job in (first, second, done.set):
        lanes.submit("a", job)
    assert started.wait(5)
    assert lanes.withdraw("a", second)
    assert not lanes.withdraw("a", first)
    assert not lanes.withdraw("a", second)
    gate.set()
    assert done.wait(5)
    assert ran == []
    lanes.close(timeout=1)


def test_close_gives_the_one_job_that_runs_all_of_the_time():
    lanes, started, ended = Lanes(workers=8, name="t"), threading.Event(), []

    def job():
        started.set()
        threading.Event().wait(0.5)
        ended.append(1)

    lanes.submit("a", job)
    assert started.wait(5)
    lanes.close(timeout=3)
    assert ended == [1]


def test_nothing_runs_after_close():
    lanes, ran = Lanes(workers=1, name="t"), []
    lanes.close(timeout=1)
    lanes.submit("a", lambda: ran.append(1))
    assert ran == []
    assert not any(thread.is_alive() for thread in lanes._threads)
