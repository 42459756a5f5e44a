from concurrent.futures import ThreadPoolExecutor

from memora.context import Calibration


def learn(record, *, model="m", host="h", server_tokens=1_200):
    record.calibrations.learn_tokens(model=model, host=host, estimated_tokens=1_000, server_tokens=server_tokens)


def known(record, *, model="m", host="h"):
    return record.calibrations.calibration(model=model, host=host)


def test_nothing_is_known_at_first(record):
    assert known(record) == Calibration()


def test_what_is_learned_adds_up(record):
    expected = Calibration()
    for server_tokens in (1_100, 1_200, 1_300):
        learn(record, server_tokens=server_tokens)
        expected = expected.learned(estimated_tokens=1_000, server_tokens=server_tokens)
    assert known(record) == expected


def test_every_model_at_every_host_is_learned_by_itself(record):
    learn(record, model="m", host="")
    assert known(record, model="m", host="").answers == 1
    assert known(record, model="m", host="other").answers == 0
    assert known(record, model="n", host="").answers == 0


def test_nonsense_changes_nothing(record):
    learn(record)
    before = known(record)
    learn(record, server_tokens=0)
    assert known(record) == before


def test_threads_that_learn_at_once_lose_nothing(record):
    with ThreadPoolExecutor(8) as threads:
        for done in [threads.submit(learn, record) for _ in range(24)]:
            done.result()
    assert known(record).answers == 24
