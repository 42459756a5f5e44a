"""Numbers, durations and dates as the reader writes them."""

from __future__ import annotations

from datetime import UTC, datetime, tzinfo

from babel.dates import format_datetime, format_skeleton, format_time
from babel.numbers import format_decimal, format_percent

from memora.i18n import Translator


def whole(number: int, _: Translator) -> str:
    """A whole number with its separators."""
    return str(format_decimal(number, locale=_.language))


def signed(number: int, _: Translator) -> str:
    """A whole number with its sign, also when it is above zero."""
    return str(format_decimal(number, format="+#,##0;-#,##0", locale=_.language)) if number else "0"


def percentage(share: float, _: Translator) -> str:
    """A signed share (0.05 is 5%) with one decimal."""
    return str(format_percent(share, format="+#,##0.0%;-#,##0.0%", locale=_.language))


def duration(milliseconds: float | None, _: Translator) -> str:
    """Milliseconds as ``85 ms``, ``1.2 s`` or ``1 min 5 s``; a dash while unknown."""
    if milliseconds is None:
        return "–"
    if milliseconds < 1000:
        return _("{n} ms").format(n=round(milliseconds) if milliseconds >= 1 else round(milliseconds, 1))
    seconds = milliseconds / 1000
    if seconds < 60:
        return _("{n} s").format(n=format_decimal(round(seconds, 1), locale=_.language))
    return _("{minutes} min {seconds} s").format(minutes=int(seconds // 60), seconds=int(seconds % 60))


def moment(at: datetime | float, _: Translator, *, zone: tzinfo, now: datetime) -> str:
    """A moment: only the time today, the day this year, the full date before. Floats are UTC epoch seconds."""
    at = (datetime.fromtimestamp(at, UTC) if isinstance(at, float | int) else at).astimezone(zone)
    today = now.astimezone(zone).date()
    if at.date() == today:
        return str(format_time(at, "short", locale=_.language))
    skeleton = "MMMd" if at.year == today.year else "yMMMd"
    return str(format_skeleton(skeleton, at, locale=_.language))


def full_moment(at: datetime, _: Translator, *, zone: tzinfo) -> str:
    """Date and time in full, for tooltips and records."""
    return str(format_datetime(at.astimezone(zone), "medium", locale=_.language))
