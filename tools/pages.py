"""The documentation as pages that a browser opens: what travels in the zip, for *Documentation* in the preferences.

    python tools/pages.py FOLDER

Every page of Markdown becomes one of HTML beside its pictures. What it knows is what the pages use: headings,
paragraphs, lists, tables, fenced code, pictures, links, strong, emphasis and code.
"""

import html
import re
import shutil
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
HEAD = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{title}</title>
<style>
body {{ font: 16px/1.5 sans-serif; max-width: 56rem; margin: 2rem auto; padding: 0 1rem; color: #222 }}
img {{ max-width: 100% }} table {{ border-collapse: collapse }}
td, th {{ border: 1px solid #ccc; padding: .3rem .6rem }}
code {{ background: #f3f3f3 }} pre {{ background: #f3f3f3; padding: .6rem; overflow-x: auto }}
</style></head><body>
"""
FOOT = "</body></html>\n"
_ITEM = re.compile(r"(\s*)(?:[-*]|(\d+)\.) (.*)")


def write_pages(folder: Path) -> list[Path]:
    """Write all pages, with the pictures and files that they show, below a folder; returns the pages."""
    sources = [ROOT / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")]
    sources += sorted((ROOT / "docs").rglob("*.md"))
    pages = []
    for source in sources:
        page = (folder / source.relative_to(ROOT)).with_suffix(".html")
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(html_page(source.read_text(encoding="utf-8")), encoding="utf-8")
        pages.append(page)
    for source in sorted((ROOT / "docs").rglob("*")):
        if source.is_file() and source.suffix != ".md":
            target = folder / source.relative_to(ROOT)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target)
    return pages


def html_page(text: str) -> str:
    """One page."""
    title = re.search(r"(?m)^# (.*)$", text)
    return HEAD.format(title=html.escape(title[1] if title else "Cairn")) + "\n".join(_blocks(text)) + FOOT


def _blocks(text):
    """HTML of each block of a page."""
    lines = re.sub(r"(?s)<!--.*?-->", "", text).split("\n")
    at = 0
    while at < len(lines):
        line = lines[at]
        if not line.strip():
            at += 1
        elif line.startswith("```"):
            end = next((i for i in range(at + 1, len(lines)) if lines[i].startswith("```")), len(lines))
            yield "<pre><code>" + html.escape("\n".join(lines[at + 1 : end])) + "</code></pre>"
            at = end + 1
        elif found := re.match(r"(#+) (.*)", line):
            level = len(found[1])
            yield f'<h{level} id="{anchor(found[2])}">{inline(found[2])}</h{level}>'
            at += 1
        else:
            end = next((i for i in range(at, len(lines)) if not _goes_on(lines, i, at)), len(lines))
            block, at = lines[at:end], end
            if line.startswith("|"):
                yield _table(block)
            elif _ITEM.match(line):
                yield _list(block)
            elif line.startswith("    "):
                yield "<pre><code>" + html.escape("\n".join(entry[4:] for entry in block)) + "</code></pre>"
            else:
                yield f"<p>{inline(' '.join(block))}</p>"


def _goes_on(lines, i, first):
    """Whether a line belongs to the block that begins at ``first``; a list begins one of its own."""
    line = lines[i]
    if not line.strip():
        return False
    if i == first:
        return True
    if line.startswith(("```", "#")):
        return False
    return bool(_ITEM.match(lines[first])) or not _ITEM.match(line)


def _table(block):
    rows = [[cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip().strip("|"))] for line in block]
    body = [row for row in rows if not all(re.fullmatch(r":?-+:?", cell) for cell in row)]
    cells = [
        "<tr>" + "".join(f"<{tag}>{inline(cell)}</{tag}>" for cell in row) + "</tr>"
        for row, tag in zip(body, ["th"] + ["td"] * len(body), strict=False)
    ]
    return "<table>" + "".join(cells) + "</table>"


def _list(block):
    """A list; one within it is as far in as its first line says."""
    items, first = [], _ITEM.match(block[0])
    for line in block:
        found = _ITEM.match(line)
        if found and len(found[1]) <= len(first[1]):
            items.append([found[3]])
        else:
            items[-1].append(line)
    tag = "ol" if first[2] else "ul"
    return f"<{tag}>" + "".join(f"<li>{_item(lines)}</li>" for lines in items) + f"</{tag}>"


def _item(lines):
    inner = next((i for i in range(1, len(lines)) if _ITEM.match(lines[i])), len(lines))
    text = inline(" ".join(line.strip() for line in lines[:inner]))
    return text + (_list(lines[inner:]) if inner < len(lines) else "")


def inline(text: str) -> str:
    """Code, pictures, links, strong and emphasis of a line."""
    # code is taken out first, since nothing in it is a mark, and may stand within links
    codes = re.findall(r"`([^`]+)`", text)
    marked = _marked(re.sub(r"`[^`]+`", "\0", text))
    pieces = iter(f"<code>{html.escape(code)}</code>" for code in codes)
    return re.sub("\0", lambda _: next(pieces), marked)


def _marked(text):
    text = html.escape(text, quote=False)
    text = re.sub(r"!\[([^]]*)\]\(([^)\s]+)\)", lambda found: f'<img alt="{found[1]}" src="{found[2]}">', text)
    text = re.sub(r"\[((?:[^][]|\[[^]]*\])*)\]\(([^)\s]+)\)", lambda found: _link(found[1], found[2]), text)
    text = re.sub(r"\*\*(.+?)\*\*", r"<strong>\1</strong>", text)
    return re.sub(r"(?<![\w*])\*(?!\s)([^*]+?)\*(?!\w)", r"<em>\1</em>", text)


def _link(text, target):
    if not target.startswith(("http://", "https://")):
        target = re.sub(r"\.md(?=#|$)", ".html", target)
    return f'<a href="{target}">{text}</a>'


def anchor(heading: str) -> str:
    """Of a heading, as the pages' links name it."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-")


if __name__ == "__main__":
    print(len(write_pages(Path(sys.argv[1]))), "pages")
