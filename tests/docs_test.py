#!/usr/bin/env python3
"""Checks the links of the documentation: each names a page of docs/ that is there, and a heading that the page has. A
built site has no other files, so a link that leaves docs/ works in the source tree alone."""

import re
import sys
import unittest
from pathlib import Path

DOCS = Path(__file__).resolve().parents[1] / "docs"
LINK = re.compile(r"\]\((?!https?:|mailto:)([^)#\s]*)(?:#([^)\s]*))?\)")
HEADING = re.compile(r"^#+ +(.*)$", re.MULTILINE)
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


class Links(unittest.TestCase):
    def test_every_link_leads_somewhere(self):
        self.assertGreater(sum(1 for _ in DOCS.rglob("*.md")), 50)
        self.assertEqual([], list(wrong_links(DOCS)))


if __name__ == "__main__":
    unittest.main(argv=sys.argv)
