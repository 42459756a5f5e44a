"""Being refused what the permissions of files refuse, also as root, as whom containers run tests."""

from __future__ import annotations

import ctypes
import os
import sys

_VERSION_3 = 0x20080522
_OVERRIDES = (1, 2)
"""The capabilities CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH, by which root reads and writes everything."""


class _Header(ctypes.Structure):
    _fields_ = [("version", ctypes.c_uint32), ("pid", ctypes.c_int)]


class _Data(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint32) for name in ("effective", "permitted", "inheritable")]


def obey_permissions() -> None:
    """From now on this thread, and the threads that it starts, may do with files what its user may."""
    if os.geteuid() != 0 or sys.platform != "linux":
        return
    libc = ctypes.CDLL(None, use_errno=True)
    header, data = _Header(_VERSION_3, 0), (_Data * 2)()
    _checked(libc.capget(ctypes.byref(header), data))
    for capability in _OVERRIDES:
        data[0].effective &= ~(1 << capability)
    _checked(libc.capset(ctypes.byref(header), data))


def _checked(result: int) -> None:
    if result != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
