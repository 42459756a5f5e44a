"""The languages of the interface: which one to speak, and the words in it.

The sentences in the code are English; ``memora/locale`` holds the catalogues of the other languages.
``make locale`` collects the sentences that are written as ``_("…")``, ``_.plural("…", "…", n)`` or, where
a table is built before the language is known, ``mark("…")``.
"""

from __future__ import annotations

import gettext
import re
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import get_args

from memora.preferences import Language

LANGUAGES: tuple[Language, ...] = get_args(Language)
LOCALE_FOLDER = Path(__file__).parent / "locale"
DOMAIN = "memora"


class Translator:
    """The sentences of one language: called with an English sentence, it gives that language's."""

    def __init__(self, language: Language) -> None:
        self.language = language
        # English has no catalogue: the sentences in the code are its own.
        self._catalogue = gettext.translation(DOMAIN, LOCALE_FOLDER, languages=[language], fallback=language == "en")

    def __call__(self, message: str) -> str:
        """The sentence in this language; ``message`` itself where the catalogue has none."""
        # gettext answers the empty message with the catalogue's header.
        return self._catalogue.gettext(message) if message else ""

    def plural(self, singular: str, plural: str, n: int) -> str:
        """The sentence for ``n`` things; ``{n}``, if it is there, is left for the caller to fill in."""
        return self._catalogue.ngettext(singular, plural, n)


@lru_cache(maxsize=len(LANGUAGES))
def translator(language: Language) -> Translator:
    """The translator of ``language``; its catalogue is read once."""
    return Translator(language)


def mark(message: str) -> str:
    """``message`` itself, collected for the catalogues: for tables whose sentences are translated when shown."""
    return message


def choose_language(preferred: str | None, accept: str | None) -> Language:
    """The language to speak.

    ``preferred`` is a choice that was made (``zh_TW``, ``en``; anything else, such as ``auto``, is none).
    ``accept`` is what the reader's machine says: ``zh-Hant-TW``, ``en-US,en;q=0.9`` or ``zh_TW.UTF-8``; the
    first language in it that Memora speaks counts, and any Chinese is ``zh_TW``. English where nothing fits.
    """
    for language in LANGUAGES:
        if preferred == language:
            return language
    for spoken in re.findall(r"(?:^|,)\s*([a-z]+)", (accept or "").lower()):
        match spoken:
            case "zh":
                return "zh_TW"
            case "en":
                return "en"
    return "en"


def terminal_language(environ: Mapping[str, str]) -> Language:
    """The language of whoever reads the terminal. The settings may be what is wrong, so only ``environ`` is asked."""
    spoken = next((environ[name] for name in ("LC_ALL", "LC_MESSAGES", "LANG") if environ.get(name)), None)
    return choose_language(environ.get("MEMORA_LANGUAGE"), spoken)
