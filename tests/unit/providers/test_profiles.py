from typing import get_args

import pytest

from memora.providers.profiles import ANY, OPENAI, PROFILES, detect, is_known_host
from memora.settings import ProviderName


def test_every_kind_of_server_that_can_be_set_has_a_profile():
    assert set(PROFILES) == set(get_args(ProviderName))
    assert all(profile.name == name for name, profile in PROFILES.items())


@pytest.mark.parametrize(
    ("address", "name"),
    [
        (None, "openai"),
        ("https://api.openai.com/v1", "openai"),
        ("https://openrouter.ai/api/v1", "openrouter"),
        ("https://ollama.com/v1", "ollama"),
        ("http://192.168.1.5:11434/v1", "ollama"),
        ("http://localhost:1234/v1", "lm_studio"),
        ("http://localhost:9999/v1", "any"),
        ("https://api.openai.com.example.net/v1", "any"),
    ],
)
def test_a_server_is_recognised_by_its_host_or_its_usual_port(address, name):
    assert detect(address).name == name


@pytest.mark.parametrize(
    ("owner", "name"), [("llamacpp", "llama_cpp"), ("library", "ollama"), ("vllm", "vllm"), ("somebody", "any")]
)
def test_the_owner_of_its_models_says_more_than_its_port(owner, name):
    assert detect("http://localhost:8000/v1", owners={owner}).name == name


def test_a_port_whose_server_names_no_owner_of_its_own_stays_a_guess():
    assert detect("http://localhost:4000/v1", owners={"openai"}).name == "litellm"


def test_a_host_says_more_than_the_owner_of_its_models():
    assert detect("https://openrouter.ai/api/v1", owners={"vllm"}).name == "openrouter"


def test_only_a_host_is_certain():
    assert is_known_host(None)
    assert is_known_host("https://api.openai.com/v1")
    assert not is_known_host("http://localhost:11434/v1")


def test_openai_and_a_server_of_no_known_kind_are_spoken_to_by_the_specification():
    for profile in (OPENAI, ANY):
        assert profile.takes_include
        assert profile.enforces_schemas
        assert profile.obeys_tool_choice
