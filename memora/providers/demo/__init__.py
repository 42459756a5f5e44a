"""The demo model: a scripted stand-in that speaks the Responses API beneath the real OpenAI client."""

from memora.providers.demo.faults import TriggerFaults
from memora.providers.demo.transport import DemoTransport

__all__ = ["DemoTransport", "TriggerFaults"]
