"""Cassettes: real exchanges with a server, kept without what is private, and played again."""

from memora.providers.cassette.cassette import BadCassette, Exchange, read_cassette
from memora.providers.cassette.recorder import CassetteRecorder, Reason, RecordingState

__all__ = ["BadCassette", "CassetteRecorder", "Exchange", "Reason", "RecordingState", "read_cassette"]
