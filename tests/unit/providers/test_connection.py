import httpx2
import pytest
from servers.launch import responses_server

from memora.errors import InvalidInput, ModelUnreachable
from memora.model import CancelToken, ModelRequest
from memora.providers.connection import Connection
from memora.settings import DEMO_MODEL, Settings


def connection(**environment):
    return Connection(Settings(**environment))


def test_without_key_and_address_the_demo_model_answers():
    demo = connection()
    assert demo.endpoint.is_demo
    assert demo.model_name("gpt-6-luna") == DEMO_MODEL


def test_a_key_alone_means_openai_itself():
    own = connection(OPENAI_API_KEY="sk-test")
    assert (own.endpoint.is_demo, own.endpoint.host) == (False, "")
    assert own.client().base_url.host == "api.openai.com"
    assert own.model_name(None) == "gpt-6-luna"


def test_an_address_alone_means_a_server_without_keys():
    local = connection(OPENAI_BASE_URL="http://localhost:11434/v1", MEMORA_MODEL="qwen3")
    assert local.endpoint.host == "localhost:11434"
    assert local.model_name(None) == "qwen3"


def test_the_key_of_the_environment_goes_nowhere_but_to_its_own_address():
    sent = []

    def record(request: httpx2.Request) -> httpx2.Response:
        sent.append((request.url.host, request.headers["authorization"]))
        return httpx2.Response(401, json={"error": {"message": "no"}})

    own = connection(OPENAI_API_KEY="sk-from-the-environment")
    own.connect(base_url="http://elsewhere.invalid/v1", api_key=None)
    client = own.client().with_options(http_client=httpx2.Client(transport=httpx2.MockTransport(record)), max_retries=0)
    with pytest.raises(Exception, match="no"):
        client.responses.create(model="m", input="x")
    assert [host for host, _ in sent] == ["elsewhere.invalid"]
    assert "sk-from-the-environment" not in sent[0][1]


def test_connecting_to_nothing_goes_back_to_what_is_configured():
    own = connection(OPENAI_API_KEY="sk-test")
    own.connect(base_url="http://localhost:1234/v1", api_key=None)
    own.connect(base_url=" ", api_key="")
    assert own.endpoint.host == ""
    assert own.client().api_key == "sk-test"


def test_a_new_connection_means_new_models():
    own = connection(OPENAI_API_KEY="sk-test")
    before = own.model("m")
    assert own.model("m") is before
    own.connect(base_url="http://localhost:1234/v1", api_key=None)
    assert own.model("m") is not before


@pytest.mark.parametrize(
    "address", ["localhost:1234", "ftp://host/v1", "http://", "http://[::1", "http://h:99999/v1", "javascript:alert(1)"]
)
def test_an_address_that_is_none_is_refused_and_the_old_one_stays(address):
    own = connection(OPENAI_API_KEY="sk-test")
    with pytest.raises(InvalidInput):
        own.connect(base_url=address, api_key=None)
    assert own.endpoint.host == ""


def test_the_endpoint_never_shows_its_key():
    own = connection(OPENAI_API_KEY="sk-test", OPENAI_BASE_URL="http://user:pass@localhost/v1")
    assert "sk-test" not in repr(own.endpoint)
    assert own.endpoint.host == "localhost"


def test_a_chosen_kind_of_server_is_believed():
    own = connection(OPENAI_BASE_URL="http://localhost:9999/v1", MEMORA_PROVIDER="lm_studio")
    assert own.profile.name == "lm_studio"
    own.connect(base_url="http://localhost:9999/v1", api_key=None, provider="ollama")
    assert own.profile.name == "ollama"


def test_the_kind_of_server_is_learned_from_its_models_and_new_models_are_made_for_it():
    with responses_server() as server:
        own = connection(OPENAI_BASE_URL=server.base_url, OPENAI_API_KEY="sk-test")
        before = own.model("m")
        own.recognize()
        assert own.profile.name == "any"
        assert own.model("m") is before
        assert own.list_models().names == (DEMO_MODEL,)


def test_nobody_there_leaves_the_kind_of_server_a_guess():
    own = connection(OPENAI_BASE_URL="http://127.0.0.1:9/v1")
    own.recognize()
    assert own.profile.name == "any"


@pytest.mark.parametrize(
    "address",
    [
        "http://256.256.256.256/v1",
        "http://a..b/v1",
        f"http://{'a' * 300}.test/v1",
        "http://ho\tst/v1",
        "http://host\u200b.test/v1",
        "http://host/v1?key=abc",
        "http://host/v1#part",
        "host/v1",
    ],
)
def test_an_address_that_cannot_be_asked_is_refused_and_the_old_one_stays(address):
    own = connection(OPENAI_API_KEY="sk-test")
    with pytest.raises(InvalidInput):
        own.connect(base_url=address, api_key=None)
    assert own.client().base_url.host == "api.openai.com"


def test_an_address_in_full_width_signs_is_the_address():
    own = connection()
    own.connect(base_url="ｈｔｔｐ：//１２７.0.0.1：11434/v1/", api_key=None)
    assert str(own.client().base_url) == "http://127.0.0.1:11434/v1/"


def test_an_address_that_only_the_client_refuses_is_told_as_unreachable():
    own = connection(OPENAI_BASE_URL="http://☃.test/v1")
    with pytest.raises(ModelUnreachable):
        own.list_models()
    with pytest.raises(ModelUnreachable):
        list(own.model("m").stream(ModelRequest(purpose="answer", instructions="", input=()), cancel=CancelToken()))


def test_a_model_keeps_to_the_server_that_it_was_made_for():
    own = connection(OPENAI_BASE_URL="http://first.test/v1")
    before = own.model("m")
    own.connect(base_url="http://second.test/v1", api_key="sk-second")
    assert before.host == "first.test"
    client = before._client_factory()
    assert (client.base_url.host, client.api_key) == ("first.test", "no-key")
