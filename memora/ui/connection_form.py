"""The connection on the settings page: which server answers, another one, and whether it works."""

from __future__ import annotations

import streamlit as st

from memora.errors import InvalidInput, ModelError
from memora.i18n import Translator, mark
from memora.providers.profiles import PROFILES, Profile
from memora.settings import ProviderName
from memora.ui.connection_check import draw_check, forget_check
from memora.ui.markdown import as_plain
from memora.ui.sentences import sentence
from memora.ui.session import get_app, translate, user_id

KIND_KEY, URL_KEY, SECRET_KEY, REFUSED_KEY = "connection-kind", "connection-url", "connection-key", "refused-connection"
MODELS_KEY = "connection-models"

_HINTS: dict[ProviderName, str] = {
    "openai": mark("Needs a key from your OpenAI account."),
    "ollama": mark("Ollama 0.13.3 or newer, started with `ollama serve`. Needs no key."),
    "llama_cpp": mark("Start it with `llama-server --jinja -m MODEL.gguf`. Needs no key."),
    "vllm": mark("Start it with `vllm serve MODEL --enable-auto-tool-choice --tool-call-parser …`. Needs no key."),
    "lm_studio": mark("LM Studio 0.3.29 or newer, with its server switched on. Needs no key."),
    "litellm": mark("A LiteLLM proxy brings the Responses API to servers that do not have it. Needs the proxy's key."),
    "openrouter": mark("Needs a key from your OpenRouter account."),
    "any": mark("Any server with the route /v1/responses."),
}


def draw_connection() -> None:
    """The model that answers now, the test, and the form for another server."""
    _ = translate()
    st.subheader(_("Connection"), anchor=False)
    st.markdown(_answering(_), anchors=False)
    run = st.button(_("Test connection"), key="connection-test", icon=":material/network_check:")
    st.caption(
        _("Sends two requests with a function call between them and one for structured output: a few hundred tokens.")
    )
    draw_check(run=run)
    with st.container(key="connection-form-frame", border=True):
        _draw_form(_)


def known_models() -> list[str]:
    """The models of the connected server; asked for once per session and connection. None where it lists none."""
    _ = translate()
    if get_app().status(user_id=user_id()).is_demo:
        return []
    models: list[str] | None = st.session_state.get(MODELS_KEY)
    if models is None:
        with st.spinner(_("Asking the server for its models…")):
            try:
                models = list(get_app().list_models())
            except ModelError:
                models = []  # the test of the connection says why
        st.session_state[MODELS_KEY] = models
    return models


def _answering(_: Translator) -> str:
    """One line about the model that answers now."""
    status = get_app().status(user_id=user_id())
    if status.is_demo:
        return _("The **demo model** answers. Its answers are scripted.")
    host = as_plain(status.endpoint or "api.openai.com")
    return _("**{model}** at {host} answers ({kind}).").format(
        model=as_plain(status.model), host=host, kind=as_plain(status.provider)
    )


def _draw_form(_: Translator) -> None:
    st.selectbox(
        _("Kind of server"),
        list(PROFILES),
        index=None,
        format_func=lambda name: _("Another server") if name == "any" else PROFILES[name].title,
        placeholder=_("Choose one to fill in its address, or type an address below"),
        key=KIND_KEY,
        on_change=_fill_address,
    )
    chosen = _chosen()
    if chosen:
        st.caption(_(_HINTS[chosen.name]) + _differences(chosen, _))
    with st.form("connection-form", border=False):
        st.text_input(
            _("Address of an OpenAI-compatible server"),
            placeholder="http://localhost:11434/v1",
            help=_("Leave it empty for OpenAI itself."),
            key=URL_KEY,
        )
        needless = chosen is not None and not chosen.needs_key
        label = _("API key (not needed)") if needless else _("API key")
        st.text_input(label, type="password", key=SECRET_KEY, autocomplete="off")
        refused = st.session_state.pop(REFUSED_KEY, None)
        if refused:
            st.warning(as_plain(sentence(refused, _)), icon=":material/edit_note:")
        st.caption(
            _(
                "Kept in memory until Memora is closed, never written to disk. To keep it, set OPENAI_API_KEY and "
                "OPENAI_BASE_URL in the environment or in the file .env."
            )
        )
        with st.container(horizontal=True, gap="small"):
            st.form_submit_button(_("Connect"), type="primary", key="connection-connect", on_click=connect)
            st.form_submit_button(_("Back to the start settings"), key="connection-reset", on_click=disconnect)


def _differences(profile: Profile, _: Translator) -> str:
    """What Memora does differently for this kind of server, in words."""
    told = []
    if not profile.obeys_tool_choice:
        told.append(_("It may call functions when it should not: the second request offers none."))
    if not profile.enforces_schemas:
        told.append(_("It does not enforce a given form: Memora asks for it in words and checks."))
    if profile.usage == "partial":
        told.append(_("It does not tell how many tokens went into reasoning."))
    return "".join(f" {sentence}" for sentence in told)


def _chosen() -> Profile | None:
    name: ProviderName | None = st.session_state.get(KIND_KEY)
    return PROFILES[name] if name else None


def _fill_address() -> None:
    """The usual address of the chosen kind; OpenAI's own is an empty one."""
    chosen = _chosen()
    if chosen and (chosen.base_url or chosen.name == "openai"):  # what was typed stays where nothing is usual
        st.session_state[URL_KEY] = "" if chosen.name == "openai" else chosen.base_url


def connect() -> None:
    """Switch to what was typed. The key leaves its box at once; a wrong address stays to be put right."""
    _, state = translate(), st.session_state
    chosen = _chosen()
    try:
        if chosen and chosen.needs_key and not (state[URL_KEY] or state[SECRET_KEY]):
            raise InvalidInput("no key", field="api_key", allowed="sk-…")
        get_app().connect(
            base_url=state[URL_KEY] or None,
            api_key=state[SECRET_KEY] or None,
            provider=chosen.name if chosen else None,
        )
    except InvalidInput as error:
        state[REFUSED_KEY] = error.as_failure()
        return
    state[SECRET_KEY] = ""
    _connection_changed()


def disconnect() -> None:
    """Back to what the environment says."""
    get_app().connect(base_url=None, api_key=None)
    st.session_state[URL_KEY] = st.session_state[SECRET_KEY] = ""
    st.session_state[KIND_KEY] = None
    _connection_changed()


def _connection_changed() -> None:
    _ = translate()
    forget_check()
    st.session_state.pop(MODELS_KEY, None)
    st.toast(_("Connection changed"), icon=":material/check:")
