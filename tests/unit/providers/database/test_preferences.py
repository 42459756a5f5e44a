from memora.preferences import Preferences

CHOSEN = Preferences(memory_enabled=False, language="zh_TW", model="llama", max_input_tokens=4_000)


def test_the_defaults_stand_until_something_is_saved(record):
    assert record.preferences.preferences(user_id="mei") == Preferences()


def test_saving_replaces_everything(record):
    record.preferences.save_preferences(user_id="mei", preferences=CHOSEN)
    assert record.preferences.preferences(user_id="mei") == CHOSEN
    record.preferences.save_preferences(user_id="mei", preferences=Preferences(language="en"))
    assert record.preferences.preferences(user_id="mei") == Preferences(language="en")


def test_another_user_has_other_preferences(record):
    record.preferences.save_preferences(user_id="mei", preferences=CHOSEN)
    assert record.preferences.preferences(user_id="lin") == Preferences()
    record.preferences.save_preferences(user_id="lin", preferences=Preferences())
    assert record.preferences.preferences(user_id="mei") == CHOSEN
