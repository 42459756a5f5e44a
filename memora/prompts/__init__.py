"""Prompts are text files beside this module, rendered strictly.

A template marks its variables as ``$name`` (``$$`` is a dollar sign). The last line break of the file is
not part of the prompt.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from string import Template


def render(name: str, **variables: object) -> str:
    """The prompt ``name`` with its variables filled in.

    Raises `KeyError` for a variable that is missing or that the template does not have, `FileNotFoundError`
    for an unknown prompt.
    """
    template = _template(name)
    if unknown := variables.keys() - set(template.get_identifiers()):
        raise KeyError(f"the prompt {name} has no variable {', '.join(sorted(unknown))}")
    return template.substitute(variables)


@cache
def _template(name: str) -> Template:
    return Template(files(__package__).joinpath(f"{name}.md").read_text(encoding="utf-8").removesuffix("\n"))
