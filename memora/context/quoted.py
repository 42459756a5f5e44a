"""Data quoted for the model in such a way that nothing inside can look like the end of the quotation."""

from __future__ import annotations

import json
from typing import Any

from memora.context.message import replace_surrogates

_ESCAPES = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"})


def quoted_json(value: Any) -> str:
    """``value`` as readable JSON without ``<``, ``>`` and ``&``: no tag can be forged from inside."""
    return replace_surrogates(json.dumps(value, ensure_ascii=False)).translate(_ESCAPES)
