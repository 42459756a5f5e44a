import re

from memora.settings import APP_FOLDER

DRAWN = [*APP_FOLDER.glob("memora/ui/*.py"), *APP_FOLDER.glob("pages/*.py"), APP_FOLDER / "streamlit_app.py"]


def test_sentences_are_written_so_that_they_are_collected():
    """Babel finds ``_("…")``; it does not look into f-strings, nor at other callables."""
    for path in DRAWN:
        text = path.read_text(encoding="utf-8")
        assert 'translate()("' not in text, path
        assert not re.search(r"""f"[^"\n]*\{_\('""", text), path
