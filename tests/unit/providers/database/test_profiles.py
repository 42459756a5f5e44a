import pytest

from memora.errors import NotFound
from memora.memory.values import Provenance


def values(record, user_id="mei") -> dict[str, str]:
    return {field: value.value for field, value in record.profiles.profile(user_id=user_id).items()}


def test_a_profile_holds_what_was_entered(record):
    at = record.tick()
    record.profiles.set_profile(user_id="mei", field="name", value="小美", at=at)
    record.profiles.set_profile(user_id="mei", field="goals", value="IELTS 7", at=record.tick())
    assert values(record) == {"name": "小美", "goals": "IELTS 7"}
    name = record.profiles.profile(user_id="mei")["name"]
    assert (name.updated_at, name.provenance, name.locked) == (at, Provenance(origin="user"), False)


def test_an_empty_value_clears_the_field_and_its_lock(record):
    record.profiles.set_profile(user_id="mei", field="name", value="小美", at=record.tick())
    record.profiles.lock_profile(user_id="mei", field="name", locked=True, at=record.tick())
    record.profiles.set_profile(user_id="mei", field="name", value="", at=record.tick())
    assert values(record) == {}
    record.profiles.set_profile(user_id="mei", field="name", value="Mei", at=record.tick())
    assert not record.profiles.profile(user_id="mei")["name"].locked


def test_the_owner_changes_a_locked_field_and_it_stays_locked(record):
    record.profiles.set_profile(user_id="mei", field="name", value="小美", at=record.tick())
    record.profiles.lock_profile(user_id="mei", field="name", locked=True, at=record.tick())
    record.profiles.set_profile(user_id="mei", field="name", value="Mei", at=record.tick())
    name = record.profiles.profile(user_id="mei")["name"]
    assert (name.value, name.locked) == ("Mei", True)
    record.profiles.lock_profile(user_id="mei", field="name", locked=False, at=record.tick())
    assert not record.profiles.profile(user_id="mei")["name"].locked


def test_a_field_without_a_value_cannot_be_locked(record):
    with pytest.raises(NotFound):
        record.profiles.lock_profile(user_id="mei", field="name", locked=True, at=record.tick())


def test_entering_the_same_value_again_keeps_where_it_came_from(record):
    at = record.tick()
    record.profiles.set_profile(user_id="mei", field="name", value="Mei", at=at)
    record.profiles.set_profile(user_id="mei", field="name", value="Mei", at=record.tick())
    assert record.profiles.profile(user_id="mei")["name"].updated_at == at


def test_another_users_profile_is_another_profile(record):
    record.profiles.set_profile(user_id="mei", field="name", value="小美", at=record.tick())
    assert values(record, "lin") == {}
    record.profiles.set_profile(user_id="lin", field="name", value="", at=record.tick())
    with pytest.raises(NotFound):
        record.profiles.lock_profile(user_id="lin", field="name", locked=True, at=record.tick())
    record.profiles.set_profile(user_id="lin", field="name", value="Lin", at=record.tick())
    assert values(record) == {"name": "小美"}
