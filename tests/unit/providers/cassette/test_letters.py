import json

from hypothesis import given
from hypothesis import strategies as st

from memora.providers.cassette.letters import masked


def test_letters_digits_and_scripts_are_told_apart_and_nothing_else_is():
    assert masked("Hi Mei, 我有 2 隻貓！ don't") == "Xx Xxx, 文文 1 文文！ xxx'x"
    assert masked("Élan über ÀB") == "Éxxx éxxx ÉX"
    assert masked("１２ ① ☕ 🎉") == "１１ １ ☺ 😀"


def test_json_inside_a_text_stays_json_of_the_same_shape():
    text = '{"text": "He said \\"hi\\"\\n\\u6211", "ok": true, "count": 5, "phone": 912345678, "none": null}'
    kept = masked(text, words={"text", "count"})
    assert kept == '{"text": "Xx xxxx \\"xx\\"\\n\\u6587", "xx": true, "count": 5, "xxxxx": 111111111, "xxxx": null}'
    assert json.loads(kept)["text"] == 'Xx xxxx "xx"\n文'


def test_only_the_known_words_stay_in_quotes():
    assert masked('the "goal" of "mei"', words={"goal"}) == 'xxx "goal" xx "xxx"'


@given(st.text())
def test_the_length_stays_and_nothing_is_left_to_mask(text):
    kept = masked(text)
    assert len(kept) == len(text)
    assert masked(kept) == kept


@given(st.text(st.characters(categories=["So", "Lo", "Cs", "Lu"])))
def test_halves_of_a_surrogate_pair_stand_for_the_same_as_the_whole(text):
    halves = json.loads('"' + "".join(f"\\u{unit:04x}" for unit in _units(text)) + '"')
    one_by_one = "".join(masked(chr(unit)) for unit in _units(text))
    assert _joined(one_by_one) == _joined(masked(halves))


def _units(text):
    data = text.encode("utf-16-be", "surrogatepass")
    return [int.from_bytes(data[at : at + 2]) for at in range(0, len(data), 2)]


def _joined(text):
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
