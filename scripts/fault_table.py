"""Writes docs/faults.md from the table that the fault matrix tests (tests/faults/cases.py).

PYTHONPATH=tests:. python -m scripts.fault_table
"""

from __future__ import annotations

from collections.abc import Iterator

from faults.cases import CASES, Case

from memora.i18n import translator
from memora.settings import APP_FOLDER
from memora.ui.sentences import SENTENCES

PAGE = APP_FOLDER / "docs" / "faults.md"
INTRODUCTION = """# When things go wrong

Every fault below is met by the tests, at each place where it can happen: in request 1 and request 2 of an answer, in
the summary, in extraction, in reconciliation, and where a server makes the embeddings. `make test` meets each fault
once, `make test-full` meets each everywhere. This page is written from the table that they test
(`PYTHONPATH=tests:. python -m scripts.fault_table`).

- **The answer**: how the turn ends when request 1 or 2 meets the fault. The message is kept in every case; what
  arrived of the answer is kept and marked as cut off. *Asked again* is what the client does by itself before anything
  is said (`MEMORA_MAX_RETRIES` times): only where nothing of an answer had come, with a growing, jittered wait, or the
  one that `retry-after` asks for. Stop ends the wait at once.
- **The summary**: the turn is answered all the same. On a failure, old turns are left out of this one request; they
  stay in the record, and the summary is tried again with the next message.
- **Learning** (extraction, reconciliation): the answer is there already. *Later, by itself*: after 5 s, 30 s, 2 min
  and 10 min, and after a restart. *With the next answer*: somebody has to put something right first; when the model
  answers again, or after a restart, it is tried. Nothing is learned twice.
- **Embeddings**: the answer recalls by words, and the trace says so; the index catches up by itself.

| An answer that broke off | A wrong key | The index is made again |
|---|---|---|
| ![cut off](fault-cut-off.png) | ![wrong key](fault-wrong-key.png) | ![rebuilding](fault-rebuilding.png) |
"""
TITLES = {
    "connection": "No connection",
    "status": "HTTP errors",
    "body": "What comes is no answer",
    "broken stream": "The stream breaks off",
    "disorder": "The stream is in disorder",
    "content": "The answer is not whole",
    "call": "Odd function calls",
}


def page() -> str:
    """The whole page."""
    return "\n".join([INTRODUCTION, *_faults(), "", *_sentences(), ""])


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
    yield "## What is said\n"
    yield "**Try again** is offered with each of them.\n"
    for code in dict.fromkeys(case.sentence for case in CASES if case.sentence):
        yield f'<a id="{code}"></a>`{code}`\n'
        yield f"> {SENTENCES[code]}"
        yield f">\n> {in_chinese(SENTENCES[code])}\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
