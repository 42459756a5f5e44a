from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from memora.i18n import translator
from memora.ui.numbers import duration, full_moment, moment, percentage, signed, whole

EN, ZH = translator("en"), translator("zh_TW")
TAIPEI = ZoneInfo("Asia/Taipei")
NOW = datetime(2026, 3, 5, 9, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("milliseconds", "told"),
    [(None, "–"), (0.42, "0.4 ms"), (85.4, "85 ms"), (1240, "1.2 s"), (65_000, "1 min 5 s")],
)
def test_durations_read_naturally(milliseconds, told):
    assert duration(milliseconds, EN) == told


def test_durations_in_chinese():
    assert duration(1240, ZH) == "1.2 秒"


def test_whole_numbers_have_separators():
    assert whole(16000, EN) == "16,000"


def test_today_is_told_as_a_time_in_the_readers_zone():
    assert "5:30" in moment(datetime(2026, 3, 5, 9, 30, tzinfo=UTC), EN, zone=TAIPEI, now=NOW)


def test_days_of_this_year_and_of_others():
    assert moment(datetime(2026, 2, 1, tzinfo=UTC), ZH, zone=TAIPEI, now=NOW) == "2月1日"
    assert moment(datetime(2025, 2, 1, tzinfo=UTC), ZH, zone=TAIPEI, now=NOW) == "2025年2月1日"


def test_the_full_moment_has_date_and_time():
    assert "2026" in full_moment(NOW, EN, zone=TAIPEI)


@pytest.mark.parametrize(("number", "told"), [(1234, "+1,234"), (0, "0"), (-50, "-50")])
def test_differences_have_a_sign(number, told):
    assert signed(number, EN) == told


@pytest.mark.parametrize(("share", "told"), [(0.07, "+7.0%"), (-0.125, "-12.5%")])
def test_shares_have_a_sign_and_a_decimal(share, told):
    assert percentage(share, EN) == told
