from memora.preferences import Preferences
from memora.ui.markdown import as_plain
from tests.pages.conftest import texts


def test_a_profile_field_is_saved_with_where_it_came_from(page, app, user):
    page.switch_page("pages/profile.py").run()
    page.text_input(key="profile-value-name").set_value("小美").run()
    assert app.profiles.profile(user_id=user)["name"].value == "小美"
    assert "written by you" in texts(page)


def test_an_empty_field_is_cleared(page, app, user):
    app.profiles.set_profile(user_id=user, field="goals", value="IELTS", at=app.memory.clock())
    page.switch_page("pages/profile.py").run()
    page.text_input(key="profile-value-goals").set_value("").run()
    assert "goals" not in app.profiles.profile(user_id=user)


def test_a_value_that_is_refused_stays_in_its_box(page, app, user):
    page.switch_page("pages/profile.py").run()
    long = "x" * 100
    page.text_input(key="profile-value-name").set_value(long).run()
    assert "“Name” is too long: at most 60 characters." in texts(page)
    assert page.text_input(key="profile-value-name").value == long
    assert "name" not in app.profiles.profile(user_id=user)
    page.text_input(key="profile-value-name").set_value("Mei").run()
    assert "cannot be used" not in texts(page)


def test_a_level_is_chosen(page, app, user):
    page.switch_page("pages/profile.py").run()
    page.selectbox(key="profile-value-english_level").set_value("B1").run()
    assert app.profiles.profile(user_id=user)["english_level"].value == "B1"


def test_a_field_is_locked_and_unlocked(page, app, user):
    app.profiles.set_profile(user_id=user, field="name", value="Mei", at=app.memory.clock())
    page.switch_page("pages/profile.py").run()
    page.button(key="profile-lock-name").click().run()
    assert app.profiles.profile(user_id=user)["name"].locked
    page.button(key="profile-lock-name").click().run()
    assert not app.profiles.profile(user_id=user)["name"].locked


def test_the_language_switches_the_whole_interface(page, app, user):
    app.preferences.save_preferences(user_id=user, preferences=Preferences(language="zh_TW"))
    page.switch_page("pages/settings.py").run()
    assert "設定" in texts(page)
    assert not page.exception
    app.preferences.save_preferences(user_id=user, preferences=Preferences(language="en"))
    page.run()
    assert "Settings" in texts(page)


def test_memory_is_switched_off_and_on(page, app, user):
    page.switch_page("pages/settings.py").run()
    page.toggle(key="setting-memory").set_value(False).run()
    assert not app.preferences.preferences(user_id=user).memory_enabled
    page.toggle(key="setting-memory").set_value(True).run()
    assert app.preferences.preferences(user_id=user).memory_enabled


def test_model_and_budget_are_saved(page, app, user):
    page.switch_page("pages/settings.py").run()
    page.text_input(key="setting-model").set_value("gpt-6.1-terra")
    page.number_input(key="setting-tokens").set_value(8000)
    page.button(key="setting-model-save").click().run()
    saved = app.preferences.preferences(user_id=user)
    assert (saved.model, saved.max_input_tokens) == ("gpt-6.1-terra", 8000)


def test_another_server_is_connected_and_left_again(page, app, user):
    page.switch_page("pages/settings.py").run()
    page.text_input(key="connection-url").set_value("http://127.0.0.1:9/v1")
    page.text_input(key="connection-key").set_value("sk-secret-value")
    page.button(key="connection-connect").click().run()
    assert not app.status(user_id=user).is_demo
    assert app.status(user_id=user).endpoint == "127.0.0.1:9"
    assert "sk-secret-value" not in texts(page)
    page.button(key="connection-reset").click().run()
    assert app.status(user_id=user).is_demo


def test_an_address_that_is_none_is_refused(page, app, user):
    page.switch_page("pages/settings.py").run()
    page.text_input(key="connection-url").set_value("not an address")
    page.button(key="connection-connect").click().run()
    assert "This value cannot be used" in texts(page)
    assert app.status(user_id=user).is_demo


def test_the_page_says_where_the_data_lives(page, app):
    page.switch_page("pages/settings.py").run()
    assert as_plain(str(app.settings.data_dir)) in texts(page)
