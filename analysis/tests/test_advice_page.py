"""The page of an answer of `trigram advise`."""

import copy
import json
import re

import advice_sample
import pytest
from trigram_analysis import advice, advice_page, results
from trigram_analysis.__main__ import main


@pytest.fixture
def folder(tmp_path):
    return advice_sample.write(tmp_path / "results" / "advise-ten-vgg16")


def page_of(folder):
    assert main(["report", str(folder)]) == 0
    return (folder / "report.html").read_text()


def answer_of(folder, **changes):
    (folder / "advice.json").write_text(json.dumps(advice_sample.document() | changes))
    return advice.advice_of(results.load(folder).runs)


def test_the_page_has_the_parts_of_an_answer_and_only_its_runs(folder):
    page = page_of(folder)
    assert re.findall("<h3>(.*?)</h3>", page)[:7] == [
        "Verdict", "Caveats", "Ranking", "What would change the answer", "If NICs differ",
        "Settings of the answer", "The runs on this network"]
    body = page[:page.index("const modules")]
    assert "not run" not in body and "Who wins where" not in body
    data = json.loads(re.search(r'<script type="application/json">(.*?)</script>', page, re.DOTALL)[1])
    assert data["axes"] == [] and len(data["points"]) == 4
    assert [a["label"] for a in data["algorithms"]] == [  # in the order of the ranking
        "bytegrad (hierarchical=true)", "bytegrad (bucket=64MiB)", "gradient_allreduce", "decentralized/shift_one"]
    assert "Which algorithm on ten for vgg16?" in page and "qsgd" not in body


def test_the_verdict_names_the_first_the_next_and_what_changes_the_answer(folder):
    first, changes = advice_page.verdict(answer_of(folder))
    assert first == ("bytegrad (hierarchical=true) is first, with 1,280 samples/s; the next, bytegrad (bucket=64MiB), "
                     "takes 25.0% longer.")
    assert changes == ("The answer changes: bytegrad (bucket=64MiB) is first with a bandwidth between nodes below "
                       "3.5 Gbps (0.35×) and gradient_allreduce is first with a latency between nodes above 58 µs "
                       "(1.16×).")


def test_a_tie_and_an_answer_that_nothing_changes(folder):
    document = advice_sample.document()
    candidates = [c | {"tied": i < 2} for i, c in enumerate(document["candidates"])]
    flips = [f | {"first": None} for f in document["flips"][1:3]]
    first, changes = advice_page.verdict(answer_of(folder, candidates=candidates, flips=flips))
    assert first.startswith("bytegrad (hierarchical=true) and bytegrad (bucket=64MiB) tie, with 1,280 samples/s")
    assert changes == "No change that was tried makes another candidate first."


def test_an_answer_without_a_search_says_so(folder):
    _, changes = advice_page.verdict(answer_of(folder, flips=[], ranking_only=True))
    assert changes == "What would make another one first was not searched for."


def test_the_ranking_and_the_flips_are_tables(folder):
    page = page_of(folder)
    rows = [re.findall("<td[^>]*>(.*?)</td>", row) for row in re.findall("<tr>(.*?)</tr>", page)]
    ranking = [row for row in rows if len(row) == 7 and row[0] in ("1", "2", "3", "4", "!")]
    assert [(row[0], row[-2], row[-1]) for row in ranking] == [
        ("1", "1,<wbr>280", "–"), ("2", "1,<wbr>024", "25.0%"), ("3", "640", "100.0%"), ("!", "853", "not compared")]
    assert ["bandwidth between nodes", "10 Gbps", "up to 640 Gbps (64×)", "the same"] in rows
    assert ["latency between nodes", "50 µs", "down to 781 ns (0.0156×)", "the same"] in rows


def test_caveats_say_what_was_ignored_first(folder):
    found = advice_page.caveats(answer_of(folder))
    assert found[0] == "ranked by throughput alone: how much is learned in a step is ignored"
    assert found[1] == "warning: where NICs differ by 1 %, bytegrad takes +0.1 to +25 %; NICs of a real cluster are not equal"
    assert ("not compared: decentralized/shift_one: sends nothing between nodes; 80 steps would be enough") in found
    assert any(line.startswith("left out: powersgd") for line in found)


def test_a_time_to_an_accuracy_ranks(folder):
    candidates = [c | {"time_to_accuracy_s": t, "after_s": t and t - 1, "coarse": False}
                  for c, t in zip(advice_sample.document()["candidates"], (30.0, 45.0, None, None))]
    first, _ = advice_page.verdict(answer_of(folder, candidates=candidates, target="accuracy=0.8"))
    assert first.startswith("bytegrad (hierarchical=true) is first, with 30.0 s to accuracy=0.8")
    page = page_of(folder)
    assert "29.0 s to 30.0 s" in page and "not reached" in page


def test_latencies_of_zero_and_one_node(folder):
    cluster = advice_sample.document()["cluster"] | {"nodes": 1}
    flips = [advice_sample.flip("latency", "up", advice_sample.SETTINGS[1], limit_s=4e-3, flips_s=2e-3, holds_s=1e-3)]
    (flip,) = advice.flips(answer_of(folder, cluster=cluster, flips=flips))
    assert (flip.quantity, flip.now, flip.to) == ("latency inside the node", "0", "above 2 ms")


def test_runs_of_the_search_are_left_out_of_a_report_of_all_results(folder):
    search = folder.with_name(folder.name + "-search")
    advice_sample.write(search)
    (search / "advice.json").unlink()
    page = page_of(folder.parent)
    assert page.count('<section class="experiment"') == 1 and f"{search.name}</a>" not in page
    assert page_of(search).count('<section class="experiment"') == 1  # if it is asked for


DAMAGE = [("candidates", [{"run": "run0"}]), ("candidates", [{"run": "run0"}, 7, None]), ("cluster", None),
          ("flips", [{"quantity": "bandwidth"}]), ("where_nics_differ", 3), ("ignored", {"a": 1}),
          ("candidates", "x"), ("left_out", None), ("flips", [advice_sample.flip("bandwidth", "up")])]


@pytest.mark.parametrize("key, value", DAMAGE)
def test_a_damaged_answer_leaves_a_report_of_the_runs(folder, key, value):
    document = copy.deepcopy(advice_sample.document()) | {key: value}
    (folder / "advice.json").write_text(json.dumps(document))
    page = page_of(folder)
    assert "could not be made" not in page and page.count('<section class="experiment"') == 1


def test_texts_of_an_answer_are_escaped(folder):
    evil = "<img src=x onerror=alert(1)>"
    document = json.loads(json.dumps(advice_sample.document()).replace("V100", evil).replace("vgg16", evil)
                          .replace("64MiB", evil).replace("centralised", evil))
    (folder / "advice.json").write_text(json.dumps(document))
    assert "<img" not in page_of(folder)
