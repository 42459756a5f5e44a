from __future__ import annotations

import json
import os
import stat
from datetime import UTC, datetime

import pytest

from memora.providers.cassette import CassetteRecorder, read_cassette, recorder
from memora.providers.cassette.take import Take

BEGUN = datetime(2026, 12, 1, 9, 30, tzinfo=UTC)


def take(text="hello", **fields):
    body = json.dumps({"input": text, "id": "resp_abc"}).encode()
    heard = {"method": "POST", "path": "/v1/responses", "request": body, "secret": "", "status": 200, "took_ms": 3}
    return Take(**{**heard, "headers": (), "chunks": (b"{}",), "ended": "complete", **fields})


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "cassettes"


@pytest.fixture
def open_recorder(folder):
    opened = []

    def open_it():
        opened.append(CassetteRecorder(folder, now=lambda: BEGUN))
        return opened[-1]

    yield open_it
    for one in opened:
        one.close()


def record(recorder, *takes):
    recorder.start()
    for one in takes:
        recorder.keep(one)
    recorder.stop()
    return read_cassette(recorder.text())


def test_a_recorder_that_was_never_switched_on_leaves_no_trace(open_recorder, folder):
    untouched = open_recorder()
    untouched.keep(take())
    assert (untouched.is_on, untouched.state.phase, untouched.text(), folder.exists()) == (False, "off", "", False)


def test_the_file_is_its_owners_alone_and_named_after_its_beginning(open_recorder, folder):
    assert len(record(open_recorder(), take(), take())) == 2
    (path,) = folder.iterdir()
    assert path.name == "20261201-093000.jsonl"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_the_state_counts_while_it_records(open_recorder):
    recording = open_recorder()
    recording.start()
    assert (recording.is_on, recording.state.phase, recording.state.since) == (True, "recording", BEGUN)
    recording.keep(take())
    recording.stop()
    state = recording.state
    assert (state.phase, state.exchanges, state.size) == ("off", 1, state.path.stat().st_size)
    assert recording.first_exchange()["request"]["body"]["input"] == "xxxxx"


def test_it_goes_on_in_the_same_file_and_with_the_same_ids(open_recorder):
    recording = open_recorder()
    record(recording, take())
    exchanges = record(recording, take())
    assert [exchange.body["id"] for exchange in exchanges] == ["resp_1", "resp_2"]
    again = open_recorder()
    assert (again.state.phase, again.state.exchanges) == ("off", 2)
    assert [exchange.body["id"] for exchange in record(again, take())] == ["resp_1", "resp_2", "resp_3"]


def test_a_line_that_a_crash_has_cut_off_is_taken_away(open_recorder):
    record(recording := open_recorder(), take(), take())
    path = recording.state.path
    path.write_bytes(path.read_bytes()[:-10])
    assert len(read_cassette(recording.text())) == 1
    assert len(record(open_recorder(), take())) == 2


def test_it_stops_when_there_are_enough(open_recorder, monkeypatch):
    monkeypatch.setattr(recorder, "MAX_EXCHANGES", 2)
    full = open_recorder()
    assert len(record(full, take(), take(), take())) == 2
    assert (full.is_on, full.state.phase) == (False, "full")
    full.start()
    assert (full.is_on, full.state.phase) == (False, "full")


def test_it_stops_when_the_file_is_large_enough(open_recorder, monkeypatch):
    monkeypatch.setattr(recorder, "MAX_BYTES", 1_000)
    full = open_recorder()
    assert len(record(full, take(), take("x" * 1_000), take())) == 1
    assert full.state.phase == "full"
    assert full.state.size < 1_000


def test_a_full_disk_ends_the_recording_and_leaves_whole_lines(open_recorder, monkeypatch):
    failing = open_recorder()
    record(failing, take())
    before = failing.text()

    def write_half(path, line):
        with path.open("ab") as file:
            file.write(line[:20])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(recorder, "append", write_half)
    record(failing, take(), take())
    assert (failing.is_on, failing.state.phase, failing.state.reason) == (False, "failed", "disk")
    assert failing.state.detail == "No space left on device"
    assert failing.text() == before
    monkeypatch.undo()
    assert len(record(failing, take())) == 2
    assert failing.state.phase == "off"


def test_a_disk_that_takes_half_a_line_keeps_none_of_it(open_recorder, folder, monkeypatch):
    failing = open_recorder()
    record(failing, take())
    before = failing.text()
    write = os.write

    def write_half(descriptor, line):
        if len(line) > 20:
            return write(descriptor, line[:20])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("memora.providers.cassette.shelf.os.write", write_half)
    failing.start()
    failing.keep(take())
    failing.stop()
    monkeypatch.undo()
    assert failing.state.phase == "failed"
    assert next(folder.iterdir()).read_text() == before


def test_a_recording_whose_file_has_been_deleted_is_not_begun_again_behind_the_users_back(open_recorder, folder):
    recorder = open_recorder()
    recorder.start()
    next(folder.iterdir()).unlink()
    recorder.keep(take())
    recorder.stop()
    assert (recorder.state.phase, list(folder.iterdir())) == ("failed", [])


def test_what_is_no_recording_is_neither_read_nor_mended(open_recorder, folder, tmp_path):
    folder.mkdir()
    (folder / "notes.jsonl").write_text("my notes, without an end")
    (tmp_path / "diary").write_text('{"memora_cassette": 1}\nmy diary, without an end')
    (folder / "diary.jsonl").symlink_to(tmp_path / "diary")
    recorder = open_recorder()
    assert (recorder.state.phase, recorder.text()) == ("off", "")
    assert (folder / "notes.jsonl").read_text() == "my notes, without an end"
    assert (tmp_path / "diary").read_text().endswith("without an end")


@pytest.mark.parametrize("where", ["start", "open"])
def test_a_folder_that_cannot_be_used_is_told_and_not_raised(open_recorder, folder, where):
    folder.write_text("a file in its place")
    failed = open_recorder()
    failed.start()
    assert (failed.is_on, failed.state.phase) == (False, "failed")
    assert failed.state.reason


def test_an_exchange_that_cannot_be_masked_is_not_written(open_recorder, monkeypatch):
    def too_deep(*_, **__):
        raise RecursionError("my dog")

    monkeypatch.setattr(recorder, "masked_exchange", too_deep)
    failed = open_recorder()
    assert record(failed, take()) == ()
    assert (failed.state.phase, failed.state.reason, failed.state.detail) == ("failed", "unmaskable", "RecursionError")


def test_a_disk_that_is_too_slow_ends_the_recording(open_recorder, monkeypatch):
    slow = open_recorder()
    monkeypatch.setattr(recorder, "MAX_WAITING", -1)
    slow.start()
    slow.keep(take())
    assert (slow.is_on, slow.state.phase, slow.state.reason) == (False, "failed", "too_much")


def test_a_deleted_recording_comes_back_until_the_next_one_begins(open_recorder, folder):
    recording = open_recorder()
    record(recording, take())
    before = recording.text()
    recording.delete()
    assert (recording.state.path, recording.text(), recording.can_restore) == (None, "", True)
    recording.restore()
    assert (recording.text(), recording.state.exchanges, recording.can_restore) == (before, 1, False)
    recording.delete()
    recording.start()
    assert not recording.can_restore
    recording.restore()
    assert recording.is_on
    assert [path.suffix for path in folder.iterdir()] == [".jsonl"]


def test_deleting_stops_a_recording_that_runs(open_recorder):
    recording = open_recorder()
    recording.start()
    recording.delete()
    assert (recording.is_on, recording.state.phase) == (False, "off")


@pytest.mark.parametrize("end", ["close", "crash"])
def test_what_was_deleted_is_gone_with_the_next_start_of_memora(open_recorder, folder, end):
    recording = open_recorder()
    record(recording, take())
    recording.delete()
    if end == "close":
        recording.close()
    else:
        open_recorder()
    assert list(folder.iterdir()) == []


def test_a_take_shows_neither_key_nor_words():
    shown = repr(take("my dog", secret="sk-secret", chunks=(b"my cat",)))
    assert not any(word in shown for word in ("dog", "cat", "secret"))
