#!/usr/bin/env python3
"""Checks the documentation. Each link names a page of docs/ that is there, and a heading that the page has: a built site
has no other files, so a link that leaves docs/ works in the source tree alone. Each page is in the navigation, begins
with what its reader can do afterwards, and has a summary if it is long."""

import re
import sys
import unittest
from pathlib import Path

DOCS = Path(__file__).resolve().parents[1] / "docs"
LINK = re.compile(r"\]\((?!https?:|mailto:)([^)#\s]*)(?:#([^)\s]*))?\)")
HEADING = re.compile(r"^#+ +(.*)$", re.MULTILINE)
LONG = 200  # lines of a page that needs a summary
CODE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)


def anchors(page):
    """The anchors of a page's headings, as MkDocs makes them."""
    headings = HEADING.findall(CODE.sub("", page.read_text()))
    return {re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", heading).strip().lower()) for heading in headings}


def wrong_links(docs):
    for page in sorted(docs.rglob("*.md")):
        for target, anchor in LINK.findall(CODE.sub("", page.read_text())):
            file = (page.parent / target).resolve() if target else page
            if not file.is_relative_to(docs) or not file.exists():
                yield f"{page.name}: {target} is not in {docs.name}/"
            elif anchor and file.suffix == ".md" and anchor not in anchors(file):
                yield f"{page.name}: {target} has no heading #{anchor}"


def first_paragraph(page):
    """The text from the page's title to the next empty line."""
    return page.read_text().split("\n\n")[1]


class Pages(unittest.TestCase):
    def test_every_page_is_once_in_the_navigation(self):
        nav = (DOCS.parent / "mkdocs.yml").read_text().split("\nnav:\n")[1]
        listed = re.findall(r": ([\w/-]+\.md)$", nav, re.MULTILINE)
        pages = {page.name for page in DOCS.glob("*.md")} | {"adr/README.md"}
        self.assertEqual(sorted(listed), sorted(pages))

    def test_every_page_begins_with_what_its_reader_can_do_then(self):
        others = [page.name for page in sorted(DOCS.glob("*.md"))
                  if not re.match(r"After (reading )?th(is|ese) pages? you ", first_paragraph(page).replace("\n", " "))]
        self.assertEqual([], others)

    def test_long_pages_have_summaries(self):
        without = [page.name for page in sorted(DOCS.glob("*.md"))
                   if len(page.read_text().splitlines()) > LONG and "**In short.**" not in page.read_text()]
        self.assertEqual([], without)


class Links(unittest.TestCase):
    def test_every_link_leads_somewhere(self):
        self.assertGreater(sum(1 for _ in DOCS.rglob("*.md")), 50)
        self.assertEqual([], list(wrong_links(DOCS)))


if __name__ == "__main__":
    unittest.main(argv=sys.argv)
