import pytest
from hypothesis import given
from hypothesis import strategies as st

from memora.providers.cassette.cassette import (
    Answer,
    BadCassette,
    Exchange,
    exchange_line,
    header_line,
    read_cassette,
)

SENT = Exchange(method="POST", path="/v1/responses", body={"input": "文"}, ended="ReadTimeout", took_ms=7)
ANSWERED = Exchange(
    method="GET", path="/v1/models", answer=Answer(status=200, headers={"server": "x"}, kind="json", body=[1])
)


def test_what_is_written_is_read_again():
    text = header_line(started="2026-12-01") + exchange_line(SENT) + exchange_line(ANSWERED)
    assert read_cassette(text) == (SENT, ANSWERED)
    assert "文" in text
    assert len(text.splitlines()) == 3


@given(st.text(st.characters(exclude_categories=[])))
def test_any_text_survives_even_halves_of_characters(text):
    stream = Exchange(method="POST", path="/", answer=Answer(status=200, kind="frames", body=[text]))
    (read,) = read_cassette(header_line() + exchange_line(stream))
    assert read.answer.body[0].encode("utf-16", "surrogatepass") == text.encode("utf-16", "surrogatepass")


def test_a_last_line_that_was_cut_off_is_left_out():
    whole = header_line() + exchange_line(SENT)
    for length in range(1, len(exchange_line(ANSWERED))):
        assert read_cassette(whole + exchange_line(ANSWERED)[:length]) == (SENT,)


@pytest.mark.parametrize("text", ["", "\n", "{}\n", "[]\n", "null\n", "no json\n", header_line() + "{}\n"])
def test_what_is_no_cassette_is_refused(text):
    with pytest.raises(BadCassette, match="no cassette"):
        read_cassette(text)


def test_a_cassette_of_another_version_is_refused_with_both_versions():
    with pytest.raises(BadCassette, match="version 2; this program reads version 1"):
        read_cassette('{"memora_cassette": 2}\n')
