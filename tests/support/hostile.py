"""Texts that try to run, to load, to reach out, to break the layout, or to break what reads them."""

from __future__ import annotations

from support.scale import scaled

ELSEWHERE = "https://example.invalid"
"""Where nothing may ever be asked for. The path says which text asked."""
RUN = "window.hacked=true"

SHORT: dict[str, str] = {
    "script": f"<script>{RUN}</script>",
    "handlers": f'<img src=x onerror="{RUN}"><svg onload="{RUN}"></svg><details open ontoggle="{RUN}">',
    "frames": f'<iframe src="{ELSEWHERE}/"></iframe><object data="{ELSEWHERE}/o"></object><embed src="{ELSEWHERE}/">',
    "styles": f'<link rel="stylesheet" href="{ELSEWHERE}/a.css"><style>@import "{ELSEWHERE}/b.css";</style>',
    "refresh": f'<meta http-equiv="refresh" content="0;url={ELSEWHERE}/"><base href="{ELSEWHERE}/">',
    "live links": f"[run](javascript:{RUN}) [data](data:text/html,<script>{RUN}</script>) [file](file:///etc/passwd)",
    "links by reference": f"[run][js] [data][d]\n\n[js]: javascript:{RUN}\n[d]: data:text/html,x",
    "autolinks": f"<javascript:{RUN}> <{ELSEWHERE}/angle> {ELSEWHERE}/bare www.example.invalid me@example.invalid",
    "image": f"![]({ELSEWHERE}/?q=what-is-remembered)",
    "linked image": f"[![x]({ELSEWHERE}/i.png)]({ELSEWHERE}/l)",
    "image by reference": f"![x][there]\n\n[there]: {ELSEWHERE}/r.png",
    "image in a list": f"- ![]({ELSEWHERE}/1)\n  - `x ![]({ELSEWHERE}/2)`\n\n> ![]({ELSEWHERE}/3)",
    "image in a table": f"| ![]({ELSEWHERE}/4) |\n|---|\n| ` | ![]({ELSEWHERE}/5) ` |",
    "image as HTML": f'<img src="{ELSEWHERE}/h.png"><picture><source srcset="{ELSEWHERE}/s.png"></picture>',
    "image in a directive": f":red[![x]({ELSEWHERE}/d)] :small[x] ![x]({ELSEWHERE}/e)]",
    "footnote": f"see[^1]\n\n[^1]: ![]({ELSEWHERE}/f.png)",
    "formula": f"$\\href{{javascript:{RUN}}}{{x}}$ $$\\includegraphics{{{ELSEWHERE}/k.png}}$$",
    "directives": ":red[red] :material/home: :streamlit: :smile: :blue-background[blue] :small[x] {{x}} :::note",
    "entities": f"&lt;script&gt;{RUN}&lt;/script&gt; &#60;img src={ELSEWHERE}/n&#62; &NotAnEntity; &#0;",
    "out of a span": f"x` ![]({ELSEWHERE}/span) `] ![x]({ELSEWHERE}/label)",
    "overrides": "\u202e\u202dlive \u2066\u2067evil\u200b\u200d\ufeff\u00ad \u061c",
    "control characters": "a\x00b\x01c\x1b[31md\x7fe\x85f\u2028g\u2029h",
    "lone surrogate": "before \ud83d after \udc00 end",
}

DIAGRAM, BOX = f'flowchart TD; A@{{ img: "{ELSEWHERE}', '", label: "x", h: 60, w: 60 }'
"""A Mermaid diagram with a picture in it, around the path of the picture."""

FENCES: dict[str, str] = {
    "after a byte order mark": f"\ufeff```\nx\n```\n![x]({ELSEWHERE}/mark)",
    "a diagram": f"```mermaid\n{DIAGRAM}/diagram{BOX}\n```",
    "a diagram in a quote": f"> ~~~ Mermaid\n> {DIAGRAM}/quoted{BOX}\n> ~~~",
    "a diagram by entity": f"```&#109;ermaid\n{DIAGRAM}/entity{BOX}\n```",
    "after a wide space": f"\u3000```\nx\n```\n![x]({ELSEWHERE}/wide)",
    "closed by a carriage return": f"```\nx\r```\r![x]({ELSEWHERE}/return)",
    "not closed by a list": f"```\n- ```\n```\n![x]({ELSEWHERE}/list)",
    "ended with its quote": f"> ```\n<!--\n```\n```\n-->\n![x]({ELSEWHERE}/quote)",
    "of another kind": f"> ```\n~~~\n```\n```\n~~~\n![x]({ELSEWHERE}/kind)",
    "in two lists": f"- - ```\n    ```\n```\n```\n![x]({ELSEWHERE}/lists) [x](data:text/html,x)",
    "around a formula": f"> ```\n$$\n```\n```\n$$\n![x]({ELSEWHERE}/formula)",
    "never closed": f"```html\n<script>{RUN}</script>\n",
}
"""What looks like code and is none, or the other way round. Each changes how what follows is read."""

LONG: dict[str, str] = {
    "huge table": "|a|b|\n|-|-|\n" + "|x|y|\n" * 500,
    "wide table": "|" + "a|" * 200 + "\n|" + "-|" * 200 + "\n|" + "wide|" * 200,
    "headings": "# heading\n\n" * 1_000,
    "deep quotes": ">" * 400 + " deep",
    "deep lists": "\n".join("  " * depth + "- x" for depth in range(100)),
    "long line": "a" * 200_000,
    "long Chinese line": "字" * scaled(short=10_000, full=66_000),
    "combining marks": "Z" + "\u0301\u0336\u0489" * 3_400,
}
