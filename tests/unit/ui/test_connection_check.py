import inspect
import re

from memora.errors import Failure
from memora.i18n import translator
from memora.turn import connection_check
from memora.turn.connection_check import STEPS, Step
from memora.ui.connection_check import step_line, verdict

_ = translator("en")


def test_every_step_has_a_title_and_words_in_both_languages():
    for name in STEPS:
        for language in ("en", "zh_TW"):
            line = step_line(Step(name=name, state="ok"), translator(language))
            assert "check_circle" in line
            assert len(line.split(" · ")[1]) > 3


def test_every_remark_has_words_in_both_languages():
    remarks = set(re.findall(r'name="(\w+)", state="\w+", note="(\w+)"', inspect.getsource(connection_check)))
    assert len(remarks) > 10
    for name, note in remarks:
        step = Step(name=name, state="partly", note=note, params={"model": "m", "some": "s", "output": "o"})
        english, chinese = (step_line(step, translator(language)) for language in ("en", "zh_TW"))
        assert english.split(" · ")[1] != chinese.split(" · ")[1]
        assert "?" not in english


def test_a_failure_is_told_as_its_sentence():
    line = step_line(Step(name="reach", state="failed", failure=Failure("unreachable", {"host": "localhost:9"})), _)
    assert "No connection to the model at localhost" in line


def test_what_a_server_says_is_not_markup():
    step = Step(name="model", state="partly", note="model_not_listed", params={"model": "<b>", "some": "[x](http://e)"})
    assert "<b>" not in step_line(step, _)
    assert "\\[x\\](http://e)" in step_line(step, _)


def test_the_verdict_is_that_of_the_worst_step():
    ok, partly, failed = (Step(name="reach", state=state) for state in ("ok", "partly", "failed"))
    assert verdict([ok], _) == "Everything works."
    assert verdict([ok, partly], _).startswith("Memora works with this server")
    assert verdict([failed, partly], _) == "Memora cannot chat over this connection."
