"""The catalogues say what the code says: nothing missing, nothing left over, nothing half done."""

from __future__ import annotations

import re

import pytest
from babel.messages.catalog import Catalog, Message

from scripts.catalogues import (
    TRANSLATED,
    catalogue_path,
    collect_sentences,
    compile_catalogue,
    read_catalogue,
    untranslated,
)

pytestmark = pytest.mark.parametrize("language", TRANSLATED)


def sentences(catalogue: Catalog) -> set[object]:
    return {message.id for message in catalogue if message.id}


def test_the_catalogue_has_exactly_the_sentences_of_the_code(language: str) -> None:
    assert sentences(read_catalogue(language)) == sentences(collect_sentences())


def test_every_sentence_is_translated(language: str) -> None:
    assert untranslated(read_catalogue(language)) == []


def test_no_translation_is_a_guess(language: str) -> None:
    assert [message.id for message in read_catalogue(language) if message.id and message.fuzzy] == []


def test_translations_have_the_same_placeholders(language: str) -> None:
    assert [message.id for message in read_catalogue(language) if message.id and not _placeholders_agree(message)] == []


def test_the_compiled_catalogue_is_fresh(language: str) -> None:
    assert catalogue_path(language, ".mo").read_bytes() == compile_catalogue(read_catalogue(language))


def _placeholders_agree(message: Message) -> bool:
    """Every form of the translation has the placeholders of the English sentence (of its plural, if it has one)."""
    source = message.id if isinstance(message.id, str) else message.id[-1]
    forms = [message.string] if isinstance(message.string, str) else message.string
    return all(_placeholders(form) == _placeholders(source) for form in forms)


def _placeholders(sentence: str) -> set[str]:
    return set(re.findall(r"\{(\w*)[^}]*\}", sentence))
