import pytest
from hypothesis import given
from hypothesis import strategies as st

from memora.providers.cassette.frames import payload_of, rewritten, split_frames


@given(st.text("a:\r\n {}", max_size=40))
def test_frames_joined_are_the_stream(text):
    assert "".join(split_frames(text)) == text


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_a_frame_is_rewritten_with_its_own_framing(end):
    frame = f": ping{end}event: x{end}data:{{1}}{end}{end}"
    assert split_frames(frame * 2) == [frame, frame]
    assert payload_of(frame) == "{1}"
    assert rewritten(frame, payload="{2}", line=lambda line: line) == frame.replace("1", "2")


def test_data_on_several_lines_is_written_on_one():
    frame = "data: {\ndata: }\n\n"
    assert payload_of(frame) == "{\n}"
    assert rewritten(frame, payload="{}", line=str.upper) == "data: {}\n\n"


def test_a_frame_without_data_has_no_payload():
    assert payload_of(": keep-alive\n\n") is None
    assert rewritten(": keep-alive\n\n", payload=None, line=str.upper) == ": KEEP-ALIVE\n\n"
