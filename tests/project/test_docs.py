"""What the documents name is there: files they link to, headings they link to, and paths of code."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]
# Not CONTRIBUTING.md: it also names files that a contributor is to make.
PAGES_ON_CODE = [page for page in PAGES if page.name != "CONTRIBUTING.md"]
# Where a path in backquotes may begin: what is said of the core, its solvers or the add-on leaves that folder out.
STARTS = [ROOT, ROOT / "solver_core", ROOT / "solver_core" / "solvers", ROOT / "addon"]
MOST_WORDS_OF_ARCHITECTURE = 2000
LARGEST_PICTURE = 3_000_000  # [bytes]


def anchors(page: Path) -> set[str]:
    """Headings as GitHub links to them."""
    headings = re.findall(r"(?m)^#+ (.*)$", page.read_text(encoding="utf-8"))
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


def each(pages):
    return pytest.mark.parametrize("page", pages, ids=lambda page: page.relative_to(ROOT).as_posix())


@each(PAGES)
def test_links_lead_somewhere(page):
    links = re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8"))
    for link in (link for link in links if not link.startswith("http")):
        name, _, anchor = link.partition("#")
        target = page.parent / name if name else page
        assert target.exists(), link
        assert not anchor or anchor in anchors(target), link


@pytest.mark.parametrize("name", ["baking.md", "guide/how-do-i.md"])
def test_long_pages_have_contents(name):
    """All of their sections, before the first of them."""
    page = ROOT / "docs" / name
    before, *_ = page.read_text(encoding="utf-8").partition("\n## ")
    titles = re.findall(r"(?m)^## (.*)$", page.read_text(encoding="utf-8"))
    sections = {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}
    assert sections
    assert sections - set(re.findall(r"\]\(#([^)]+)\)", before)) == set()


@each(PAGES_ON_CODE)
def test_names_code_that_is_there(page):
    """A path has a folder in it; a file's bare name is that of a file beside one that was named before."""
    for path in re.findall(r"`(\w[\w./*-]*/[\w./*-]*)`", page.read_text(encoding="utf-8")):
        if path.endswith((".py", "/")):
            assert any(list(start.glob(path)) for start in STARTS), path


def test_every_picture_is_shown_and_small():
    """A page loads within seconds, and no picture is left behind that nothing shows."""
    pictures = {path for folder in ("images", "guide") for path in (ROOT / "docs" / folder).rglob("*.*")}
    pictures = {path for path in pictures if path.suffix != ".md"}
    assert pictures
    shown = set()
    for page in PAGES:
        links = re.findall(r"!\[[^]]*\]\(([^)\s]+)\)", page.read_text(encoding="utf-8"))
        shown |= {(page.parent / link).resolve() for link in links}
    assert pictures - shown == set()
    for path in pictures:
        assert path.stat().st_size < LARGEST_PICTURE, path


def test_architecture_stays_short():
    words = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8").split()
    assert len(words) <= MOST_WORDS_OF_ARCHITECTURE
