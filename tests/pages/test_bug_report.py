import pytest

from tests.pages.conftest import texts


@pytest.fixture
def cassettes(app):
    yield app.cassettes
    app.cassettes.delete()


def test_exchanges_are_recorded_shown_and_deleted_with_undo(page, cassettes, say):
    page.switch_page("pages/settings.py").run()
    assert "Hi Mei" in texts(page)
    assert not page.get("download_button")
    page.toggle(key="bug-report-record").set_value(True).run()
    assert "Recording since" in texts(page)

    page.switch_page("pages/chat.py").run()
    assert "Recording for a bug report." in texts(page)
    say("How many words are in “My dog Bello is old”?")

    page.switch_page("pages/settings.py").run()
    page.toggle(key="bug-report-record").set_value(False).run()
    assert "Recorded: " in texts(page)
    (preview,) = [code.value for code in page.code if '"request"' in code.value]
    assert '"model": "memora-demo"' in preview
    assert cassettes.text().count("/v1/responses") >= 2
    assert "Bello" not in cassettes.text()

    page.button(key="bug-report-delete").click().run()
    assert "The recording is deleted." in texts(page)
    assert "Recorded: " not in texts(page)
    page.button(key="bug-report-undo").click().run()
    assert "Recorded: " in texts(page)
    page.switch_page("pages/chat.py").run()
    assert "Recording for a bug report." not in texts(page)


def test_a_recording_that_cannot_be_written_says_why(page, cassettes, app):
    folder = app.settings.data_dir / "cassettes"
    kept = folder.rename(folder.with_suffix(".away")) if folder.exists() else None
    folder.write_text("in its place")
    page.switch_page("pages/settings.py").run()
    page.toggle(key="bug-report-record").set_value(True).run()
    folder.unlink()
    if kept:
        kept.rename(folder)
    assert "The recording has failed: the disk does not take it." in texts(page)
    assert not page.toggle(key="bug-report-record").value
