"""Quoting data to the model: JSON that cannot close the tag it stands in."""

from __future__ import annotations

import json
from typing import Any

from memora.context.message import replace_surrogates

_ESCAPES = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"})


def quote(value: Any) -> str:
    """``value`` as JSON in which ``<``, ``>`` and ``&`` are escaped: it reads back the same, and holds no tag."""
    return replace_surrogates(json.dumps(value, ensure_ascii=False)).translate(_ESCAPES)
