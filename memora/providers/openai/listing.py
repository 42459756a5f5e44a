"""The models that a server says it has."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from memora.errors import Cancelled, ModelTimedOut, RouteMissing
from memora.model import CancelToken
from memora.providers.openai.failures import NO_SUCH_ROUTE, Endpoint, as_model_error, report_of, sdk_failures
from memora.providers.openai.pump import Line, pump

if TYPE_CHECKING:
    from openai import OpenAI

LISTING_TIMEOUT_SECONDS = 5.0
"""Somebody looks at a form, or waits for the app to start."""
MAX_MODELS = 1_000


@dataclass(frozen=True)
class ModelListing:
    """The models' names, in the server's order, and who owns them (which tells what kind of server it is)."""

    names: tuple[str, ...]
    owners: frozenset[str]


def list_models(client: OpenAI, *, endpoint: Endpoint) -> ModelListing:
    """Ask ``GET /models``, once, for a few seconds in all, however slowly the list drips in.

    Raises `ModelError`; `RouteMissing` where the server has no such list.
    """
    # The SDK takes any JSON for a page and looks into it: that is the AttributeError.
    unlistable: tuple[type[Exception], ...] = (*sdk_failures(), AttributeError)
    quick = client.with_options(timeout=LISTING_TIMEOUT_SECONDS, max_retries=0)
    enough = CancelToken()
    alarm = threading.Timer(LISTING_TIMEOUT_SECONDS, enough.cancel)
    alarm.daemon = True
    alarm.start()

    def ask(line: Line[ModelListing]) -> None:
        page = quick.models.list()
        line.send(_listing(getattr(page, "data", None) or ()))

    try:
        with closing(pump(ask, cancel=enough)) as heard:
            return next(heard)
    except Cancelled:
        raise ModelTimedOut("the list of models", host=endpoint.host, seconds=LISTING_TIMEOUT_SECONDS) from None
    except unlistable as error:
        if report_of(error).status in NO_SUCH_ROUTE:
            raise RouteMissing("there is no list of models", host=endpoint.host) from error
        raise as_model_error(error, endpoint=endpoint) from error
    finally:
        alarm.cancel()


def _listing(models: Iterable[Any]) -> ModelListing:
    """What is usable of the entries: servers leave things out."""
    entries = list(models)[:MAX_MODELS]
    names = (getattr(entry, "id", None) for entry in entries)
    owners = (getattr(entry, "owned_by", None) for entry in entries)
    return ModelListing(
        names=tuple(name for name in names if isinstance(name, str) and name),
        owners=frozenset(owner for owner in owners if isinstance(owner, str)),
    )
