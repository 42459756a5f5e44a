"""docs/faults.md says what the matrix tests."""

from __future__ import annotations

from faults.cases import CASES
from faults.detour import ADDRESSES
from servers.wire_faults import FAULTS

from scripts.fault_table import PAGE, page


def test_the_page_is_the_table() -> None:
    written = PAGE.read_text(encoding="utf-8")
    assert written == page(written)
    assert all(case.what in written for case in CASES)


def test_every_fault_of_the_server_has_its_effect_in_the_table() -> None:
    assert {case.fault for case in CASES} == {*FAULTS, *ADDRESSES} - {"none"}
