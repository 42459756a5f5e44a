"""Measure what has to be taken out of the local models' vectors, and keep it beside them.

Run it with ``python -m scripts.calibrate_embedder`` after a change of the parallel sentences or of a model.
"""

from __future__ import annotations

import json

from memora.providers.embedders.calibration import CORRECTIONS_FILE, Correction, measure
from memora.providers.embedders.encoders import EncoderName, load_encoder

NAMES: tuple[EncoderName, ...] = ("e5", "use")


def main() -> None:
    """Measure both models and write the file."""
    kept = {}
    for name in NAMES:
        encoder = load_encoder(name)
        kept[name] = {
            "query": as_json(measure(encoder.queries)),
            "passage": as_json(measure(encoder.passages)),
        }
    CORRECTIONS_FILE.write_text(json.dumps(kept) + "\n", encoding="utf-8")


def as_json(correction: Correction) -> dict[str, list[float]]:
    """``correction`` in six decimals: more than the models are stable to."""
    return {
        "common": [round(float(number), 6) for number in correction.common],
        "language": [round(float(number), 6) for number in correction.language],
    }


if __name__ == "__main__":
    main()
