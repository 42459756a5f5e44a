"""Writes the tables and sentences of docs/faults.md from the table that the fault matrix tests (tests/faults/cases.py).

PYTHONPATH=tests:. python -m scripts.fault_table
"""

from __future__ import annotations

from collections.abc import Iterator

from faults.cases import CASES, Case

from memora.i18n import translator
from memora.settings import APP_FOLDER
from memora.ui.sentences import DEGRADED, SENTENCES

PAGE = APP_FOLDER / "docs" / "faults.md"
OTHER_SENTENCES = {
    **{
        code: SENTENCES[code]
        for code in ("interrupted", "database_unavailable", "data_folder_unusable", "data_folder_in_use")
    },
    "broken": DEGRADED["broken"],
    "rebuilding": DEGRADED["rebuilding"],
    "index_unreachable": DEGRADED["unreachable"],
}
TITLES = {
    "connection": "No connection",
    "status": "HTTP errors",
    "body": "What comes is no answer",
    "broken stream": "The stream breaks off",
    "disorder": "The stream is in disorder",
    "content": "The answer is not whole",
    "call": "Odd function calls",
}


def page(written: str) -> str:
    """The page as ``written``, with what the tests say in the places that are marked for it."""
    for name, lines in (("faults", _faults()), ("sentences", _sentences())):
        begin, end = f"<!-- {name} -->\n", "<!-- end -->"
        before, _, rest = written.partition(begin)
        _, _, after = rest.partition(end)
        written = before + begin + "\n".join(lines) + "\n" + end + after
    return written


def _faults() -> Iterator[str]:
    for kind, title in TITLES.items():
        yield f"## {title}\n"
        yield "| fault | the answer | asked again | what is said | the summary | learning |"
        yield "|---|---|---|---|---|---|"
        yield from (_row(case) for case in CASES if case.kind == kind)
        yield ""


def _row(case: Case) -> str:
    state = {"done": "whole", "failed": "failed", "cut_off": "cut off, kept"}[case.state]
    said = f"[`{case.sentence}`](#{case.sentence})" if case.sentence else ""
    again = "yes" if case.is_retried else ""
    in_background = "extraction" in case.places
    summary = ("left out" if case.background_code else "made") if in_background else ""
    return f"| {case.what} | {state} | {again} | {said} | {summary} | {case.learned if in_background else ''} |"


def _sentences() -> Iterator[str]:
    in_chinese = translator("zh_TW")
    of_answers = {case.sentence: SENTENCES[case.sentence] for case in CASES if case.sentence}
    for code, said in {**of_answers, **OTHER_SENTENCES}.items():
        yield f'<a id="{code}"></a>`{code}`\n\n> {said}\n>\n> {in_chinese(said)}\n'


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
