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


def test_no_host_may_send_images_unless_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    assert load_settings().image_hosts == ()
    monkeypatch.setenv("MEMORA_IMAGE_HOSTS", "Upload.Wikimedia.org, example.com")
    assert load_settings().image_hosts == ("upload.wikimedia.org", "example.com")


@pytest.mark.parametrize("hosts", ["https://example.com", "*.example.com", "a/b", "a.com, b|c"])
def test_what_is_no_host_is_reported_by_name(monkeypatch: pytest.MonkeyPatch, hosts: str) -> None:
    monkeypatch.setenv("MEMORA_IMAGE_HOSTS", hosts)
    with pytest.raises(InvalidSetting) as refused:
        load_settings()
    assert refused.value.params["name"] == "MEMORA_IMAGE_HOSTS"
