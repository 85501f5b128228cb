"""Pictures of networks: `trigram show network -o`."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from typing import Any

from harness import listed
from networks import TORUS, WAN, NetworkTest, cluster, dragonfly

ACCESS_LINKS = WAN | {
    "regions": [{"name": "here", "nodes": 1, "up": "100Mbps", "down": "400Mbps"}, {"name": "there", "nodes": 3}]
}
DRAWN = (
    cluster(12, TORUS, workers_per_node=4),
    cluster(16, {"kind": "fat_tree", "k": 4}),
    cluster(12, {"kind": "fat_tree", "nodes_per_leaf": 4, "taper": 2}),
    dragonfly(72),
    cluster(24, {"kind": "hammingmesh", "board": [2, 2], "boards": [2, 3]}),
    cluster(4, WAN, workers_per_node=8),
    cluster(4, ACCESS_LINKS),
    cluster(5, {"kind": "flat"}, workers_per_node=4),
    cluster(1024, {"kind": "fat_tree", "k": 16}),
)


class NetworkPictures(NetworkTest):
    def elements(self, description: Any, tag: str) -> list[ElementTree.Element]:
        """The elements `tag` of the picture of a network."""
        self.show(description, "-o", "picture.svg")
        picture = ElementTree.parse(self.folder / "picture.svg").getroot()
        return list(picture.iter("{http://www.w3.org/2000/svg}" + tag))

    def texts(self, description: Any) -> list[str]:
        return [text.text or "" for text in self.elements(description, "text")]

    def test_picture_of_all_parts(self) -> None:
        texts = self.texts(cluster(12, TORUS))
        self.assertEqual(len([t for t in texts if re.fullmatch(r"\d\.\d", t)]), 12)  # routers
        for rank in range(12):
            self.assertIn(str(rank), texts)
        self.assertIn("1.25 GB/s each way", texts)
        # One line stands for both directions: 12 lines for NICs, 12 x 2 between routers, and one in the legend.
        self.assertEqual(len(self.elements(cluster(12, TORUS), "path")), 12 + 24 + 1)

    def test_directions_that_differ_have_lines_of_their_own(self) -> None:
        texts = self.texts(cluster(4, ACCESS_LINKS))
        for link in ("0.0125", "0.05", "0.125", "0.25"):  # up, down, and between regions
            [line] = [text for text in texts if text.startswith(f"{link} GB/s ")]
            self.assertNotIn("each way", line)
        self.assertIn("1.25 GB/s each way", texts)
        # 4 lines for NICs, one per direction of the access link and between the regions, and 5 in the legend.
        self.assertEqual(len(self.elements(cluster(4, ACCESS_LINKS), "path")), 4 + 2 + 2 + 5)

    def test_texts_do_not_overlap(self) -> None:
        for description in DRAWN:
            with self.subTest(description["topology"]):
                boxes = []
                for text in self.elements(description, "text"):
                    size = float(text.get("font-size", 0))
                    width = 0.55 * size * len(text.text or "")
                    left = float(text.get("x", 0))
                    if text.get("text-anchor") == "middle":
                        left -= width / 2
                    bottom = float(text.get("y", 0))
                    boxes.append((left, left + width, bottom - 0.75 * size, bottom, text.text))
                for i, a in enumerate(boxes):
                    for b in boxes[:i]:
                        apart = a[1] <= b[0] or b[1] <= a[0] or a[3] <= b[2] or b[3] <= a[2]
                        self.assertTrue(apart, (a, b))

    def test_pictures_cover_every_kind_of_topology(self) -> None:
        kinds = {network["name"] for network in listed("networks") if network["kind"] == "topology"}
        self.assertEqual(kinds, {description["topology"]["kind"] for description in DRAWN})

    def test_a_large_network_is_drawn_by_tiers(self) -> None:
        texts = self.texts(cluster(1024, {"kind": "fat_tree", "k": 16}))
        self.assertLess(len(texts), 20)
        for part in ("1024 workers", "128 edge switches", "128 aggregation switches", "64 core switches"):
            self.assertIn(part, texts)
