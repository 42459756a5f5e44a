import pytest

from memora import errors
from memora.errors import Failure, MemoraError
from memora.i18n import LANGUAGES, translator
from memora.ui.sentences import SENTENCES, degraded_sentence, sentence

_ = translator("en")


def leaves(kind):
    return {kind} | {leaf for child in kind.__subclasses__() for leaf in leaves(child)}


@pytest.mark.parametrize("kind", sorted(leaves(MemoraError), key=lambda kind: kind.__name__))
def test_every_error_has_a_sentence(kind):
    assert kind.code in SENTENCES


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("code", sorted(SENTENCES))
def test_a_sentence_can_be_said_without_any_parameter(code, language):
    assert sentence(Failure(code=code), translator(language))


@pytest.mark.parametrize("code", sorted(SENTENCES))
def test_every_sentence_is_translated(code):
    assert sentence(Failure(code=code), translator("zh_TW")) != sentence(Failure(code=code), translator("en"))


def test_a_wrong_key_names_the_setting():
    assert "OPENAI_API_KEY" in sentence(Failure(code="auth"), _)


def test_an_unknown_model_is_named():
    told = sentence(Failure(code="model_not_found", params={"model": "gpt-x"}), _)
    assert "gpt-x" in told
    assert "MEMORA_MODEL" in told


def test_numbers_are_written_with_separators():
    told = sentence(Failure(code="message_too_long", params={"tokens": 12345, "limit": 6000}), _)
    assert "12,345" in told
    assert "6,000" in told


def test_openai_itself_is_named_when_no_host_is_known():
    assert "api.openai.com" in sentence(Failure(code="unreachable", params={"host": ""}), _)


def test_a_field_and_what_it_allows_are_told_in_the_readers_language():
    told = sentence(
        Failure(code="invalid_input", params={"field": "english_level", "allowed": "A1, B1"}), translator("zh_TW")
    )
    assert "英文程度" in told
    error = errors.InvalidSetting(name="MEMORA_LANGUAGE", allowed="auto, zh_TW, en")
    assert "auto、zh_TW、en" in sentence(error.as_failure(), translator("zh_TW"))


def test_an_unknown_code_is_still_a_sentence():
    assert sentence(Failure(code="never heard of"), _) == sentence(Failure(code="internal"), _)
    assert degraded_sentence("never heard of", _)
