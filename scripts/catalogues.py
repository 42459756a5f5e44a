"""``make locale``: collects the sentences of the interface, updates the catalogues and compiles them."""

from __future__ import annotations

import io
from pathlib import Path

from babel.messages.catalog import Catalog, Message
from babel.messages.extract import extract_from_file
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po

from memora.i18n import DOMAIN, LANGUAGES, LOCALE_FOLDER
from memora.settings import APP_FOLDER

SPOKEN_IN = ("memora", "pages", "streamlit_app.py")
KEYWORDS = {"_": None, "mark": None, "plural": (1, 2)}
TRANSLATED = tuple(language for language in LANGUAGES if language != "en")
"""English needs no catalogue: it is what the code says."""


def collect_sentences() -> Catalog:
    """Every sentence that the code marks, with the files it stands in."""
    template = Catalog(domain=DOMAIN, project="Memora")
    for path in _source_files():
        for line, message, comments, _context in extract_from_file("python", path, keywords=KEYWORDS):
            place = (path.relative_to(APP_FOLDER).as_posix(), line)
            template.add(message, locations=[place], auto_comments=comments)
    return template


def read_catalogue(language: str) -> Catalog:
    """The catalogue of ``language`` as it stands in its .po file; an empty one for a new language."""
    if not catalogue_path(language).exists():
        return Catalog(locale=language, domain=DOMAIN, project="Memora", fuzzy=False)
    with catalogue_path(language).open("rb") as file:
        return read_po(file, locale=language, domain=DOMAIN)


def compile_catalogue(catalogue: Catalog) -> bytes:
    """What belongs into the .mo file."""
    compiled = io.BytesIO()
    write_mo(compiled, catalogue)
    return compiled.getvalue()


def catalogue_path(language: str, suffix: str = ".po") -> Path:
    """Where the catalogue of ``language`` lives."""
    return LOCALE_FOLDER / language / "LC_MESSAGES" / f"{DOMAIN}{suffix}"


def untranslated(catalogue: Catalog) -> list[str]:
    """The sentences that still lack a translation."""
    return [_source(message) for message in catalogue if message.id and not all(_forms(message.string))]


def _update(language: str) -> Catalog:
    catalogue = read_catalogue(language)
    # Guessed translations of new sentences would pass for real ones; dates would change at every run.
    catalogue.update(collect_sentences(), no_fuzzy_matching=True, update_creation_date=False)
    catalogue.obsolete.clear()
    catalogue_path(language).parent.mkdir(parents=True, exist_ok=True)
    with catalogue_path(language).open("wb") as file:
        write_po(file, catalogue, width=120, include_lineno=False, sort_by_file=True)
    catalogue_path(language, ".mo").write_bytes(compile_catalogue(catalogue))
    return catalogue


def _source_files() -> list[Path]:
    roots = [APP_FOLDER / name for name in SPOKEN_IN]
    return sorted(file for root in roots for file in ([root] if root.is_file() else root.rglob("*.py")))


def _source(message: Message) -> str:
    return message.id if isinstance(message.id, str) else message.id[0]


def _forms(string: str | list[str] | tuple[str, ...] | None) -> tuple[str, ...]:
    return tuple(string) if isinstance(string, (list, tuple)) else (string or "",)


def main() -> None:
    """Update every catalogue and say what is still to be translated."""
    for language in TRANSLATED:
        missing = untranslated(_update(language))
        print(f"{language}: {len(missing)} sentences to translate in {catalogue_path(language)}")  # noqa: T201
        for sentence in missing:
            print(f"  {sentence}")  # noqa: T201


if __name__ == "__main__":
    main()
