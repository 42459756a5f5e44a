import threading

from memora.turn.events import TextArrived
from memora.turn.log import TurnLog


def text(value):
    return TextArrived(at=0.0, number=1, text=value)


def test_a_reader_that_comes_late_sees_everything_from_the_first_word():
    log = TurnLog()
    log.append(text("a"))
    log.append(text("b"))
    assert [event.text for event in log.since(0)] == ["a", "b"]
    assert [event.text for event in log.since(1)] == ["b"]


def test_a_waiting_reader_is_woken_by_the_next_event():
    log, seen = TurnLog(), []
    reader = threading.Thread(target=lambda: seen.extend(log.wait(0, timeout=10)))
    reader.start()
    log.append(text("a"))
    reader.join(5)
    assert [event.text for event in seen] == ["a"]


def test_a_waiting_reader_is_woken_by_the_end():
    log, seen = TurnLog(), []
    reader = threading.Thread(target=lambda: seen.append(log.wait(0, timeout=10)))
    reader.start()
    log.close()
    reader.join(5)
    assert seen == [()]
    assert log.closed


def test_waiting_for_nothing_ends_at_the_timeout():
    assert TurnLog().wait(0, timeout=0.01) == ()
