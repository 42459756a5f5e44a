import pytest

from memora.errors import InvalidSetting
from memora.settings import load_settings


def test_servers_are_not_asked_to_count_unless_it_is_switched_on(monkeypatch: pytest.MonkeyPatch) -> None:
    assert load_settings().count_tokens == "off"
    monkeypatch.setenv("MEMORA_COUNT_TOKENS", "on")
    assert load_settings().count_tokens == "on"


def test_a_wrong_value_of_counting_is_reported_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMORA_COUNT_TOKENS", "sometimes")
    with pytest.raises(InvalidSetting) as refused:
        load_settings()
    assert refused.value.params == {"name": "MEMORA_COUNT_TOKENS", "allowed": "off, on"}
