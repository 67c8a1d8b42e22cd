"""The documentation as pages of HTML: all links of each lead somewhere, and its marks are marks of HTML."""

import re

import pages


def test_all_links_of_all_pages_lead_somewhere(tmp_path):
    """To pages, to headings in them, to pictures and to files."""
    written = pages.write_pages(tmp_path)
    texts = {page.resolve(): page.read_text(encoding="utf-8") for page in written}
    ids = {page: set(re.findall(r'id="([^"]+)"', text)) for page, text in texts.items()}
    broken = []
    for page, text in texts.items():
        for target in re.findall(r'(?:href|src)="([^"]+)"', text):
            if target.startswith("http"):
                continue
            name, _, heading = target.partition("#")
            found = (page.parent / name).resolve() if name else page
            # what only the repository holds: sources, and files that are made
            inside = found.suffix in {".html", ".png", ".svg", ".webp", ".blend"}
            if inside and (not found.exists() or (heading and found in ids and heading not in ids[found])):
                broken.append((page.name, target))
    assert broken == []
    assert (tmp_path / "docs" / "guide" / "README.html").is_file()


def test_marks():
    text = "a **b** *c* `d*e*<` [f `g`](h.md#i) [w](https://x.y/z.md) 2 * 3 * 4"
    assert pages.inline(text) == (
        "a <strong>b</strong> <em>c</em> <code>d*e*&lt;</code> "
        '<a href="h.html#i">f <code>g</code></a> <a href="https://x.y/z.md">w</a> 2 * 3 * 4'
    )
    assert pages.inline("![A picture](c.png)") == '<img alt="A picture" src="c.png">'
    page = pages.html_page("# T\n\n- a\n  b\n- c\n  - d\n\n| x | y |\n|---|---|\n| 1 | 2 |\n\n```sh\n<x>\n```\n")
    assert "<li>a b</li><li>c<ul><li>d</li></ul></li>" in page
    assert "<tr><th>x</th><th>y</th></tr><tr><td>1</td><td>2</td></tr>" in page
    assert "<pre><code>&lt;x&gt;</code></pre>" in page
    assert '<h1 id="t">T</h1>' in page
