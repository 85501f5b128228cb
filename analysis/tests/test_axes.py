import json
from pathlib import Path

import papers
import pytest
from trigram_analysis import overview, table, units
from trigram_analysis.comparison import Comparison
from trigram_analysis.results import Run
from trigram_analysis.winner_map import map_axes

RATE, LATENCY, NODES = "/cluster/inter/shaping/rate", "/cluster/inter/latency", "/cluster/nodes"
EXPECTED = {  # experiment: its axes, in any order
    "ablation": {"/workload"},
    "bagua_net_allreduce": {"/workload", "/cluster/transport/streams"},
    "bert_large_bandwidth": {RATE},
    "bert_large_latency": {LATENCY},
    "convergence_bagua": {"/workload/priced_as"},
    "convergence_wagma": set(),
    "continents": {"/cluster/topology"},
    "covenant": set(),
    "cross_region": set(),
    "diloco_measured": {RATE},
    "diloco_measured_ddp": {RATE},
    "eager_skew": {"/cluster/skew/rotates"},
    "intellect_1": {"/cluster/topology"},
    "other_accelerators": {"/workload", "/cluster/accelerator"},
    "scaling_laws": {"/workload"},
    "slow_worker": {"/cluster/slow_workers"},
    "streaming_diloco_1b": set(),
    "streaming_diloco_10b": set(),
    "streaming_diloco_100b": set(),
    "tasks_bandwidth": {RATE, "/workload"},
    "tasks_latency": {LATENCY, "/workload"},
    "vgg16_100gbps": set(),
    "vgg16_10gbps": set(),
    "vgg16_scaling": {NODES},
    "wagma_ablations": set(),
    "wagma_ddppo": {NODES},
    "wagma_resnet50_delays": {NODES},
    "wagma_transformer": {NODES},
    "winner_map_accuracy": {"/cluster/inter/bandwidth", LATENCY},
}


def pointers(comparison):
    return {axis.pointer for axis in comparison.axes}


def experiment(name):
    return Comparison(name, papers.runs(papers.CONFIGS / f"{name}.json"))


def swept(*points, **common):
    """The runs of an experiment that sets all of `points`, which are pointers with their values."""
    runs = []
    for number, point in enumerate(points):
        run = {"algorithm": "bytegrad"} | json.loads(json.dumps(common))
        for pointer, value in sorted(point.items()):
            papers.set_at(run, pointer, json.loads(json.dumps(value)))
        runs.append(Run(Path(str(number)), {"experiment": run, "sweep": point,
                                            "summary": {"step_s": 1.0 + number}}))
    return runs


def started_separately(runs):
    for run in runs:
        run.manifest["sweep"] = {}
    return runs


def labels(comparison, i=0):
    return [v.label for v in sorted({s[i] for s in comparison.settings}, key=lambda v: v.order)]


def test_every_experiment_of_papers_has_its_axes_here():
    assert {path.stem for path in papers.CONFIGS.glob("*.json")} == set(EXPECTED)


@pytest.mark.parametrize("name", EXPECTED)
def test_axes_of_the_experiments_of_papers(name):
    assert pointers(experiment(name)) == EXPECTED[name]


@pytest.mark.parametrize("name", EXPECTED)
def test_a_full_grid_of_the_experiments_of_papers_leaves_no_cell_empty(name):
    assert "not run" not in overview.winner_map(experiment(name))


@pytest.mark.parametrize("name", [n for n in EXPECTED if n != "ablation"])
def test_every_algorithm_of_the_experiments_of_papers_is_at_every_setting(name):
    """Except in the ablation, each of whose tasks has its own algorithm."""
    comparison = experiment(name)
    assert all(len(comparison.at(s)) == len(comparison.algorithms) for s in comparison.settings)


def test_systems_with_different_transports_are_compared():
    comparison = experiment("vgg16_100gbps")
    assert len(comparison.settings) == 1
    assert {"pytorch_ddp", "horovod", "byteps", "bagua_async"} <= set(comparison.algorithms)
    assert any(note.startswith("varies with the algorithm: transport")
               for note in table.build(comparison).notes)


def test_a_field_of_a_swept_cluster_is_an_axis_of_its_own():
    clusters = {"small": {"nodes": 2, "inter": {"latency": "1us"}},
                "large": {"nodes": 4, "inter": {"latency": "2us"}}}
    comparison = Comparison("", swept(*({"/cluster": cluster, "/cluster/inter/latency": latency}
                                        for cluster in clusters.values() for latency in ("1us", "1ms"))))
    assert pointers(comparison) == {"/cluster", LATENCY}
    assert labels(comparison) == ["nodes=2", "nodes=4"], "without the latency"
    assert len(comparison.settings) == 4


def test_of_coupled_options_one_with_a_known_title_is_the_axis():
    comparison = Comparison("", swept({"/steps": 10, NODES: 2, "/workload": "vgg16"},
                                      {"/steps": 20, NODES: 4, "/workload": "resnet50"}))
    assert pointers(comparison) == {NODES}
    assert comparison.coupled == ["varies with nodes: steps, workload"]
    comparison = Comparison("", swept({"/steps": 10, "/workload": "vgg16"},
                                      {"/steps": 20, "/workload": "resnet50"}))
    assert pointers(comparison) == {"/workload"}


def test_of_coupled_options_without_a_known_title_a_quantity_is_the_axis():
    comparison = Comparison("", swept({"/cluster/topology/kind": "ring", "/cluster/topology/groups": 1},
                                      {"/cluster/topology/kind": "tree", "/cluster/topology/groups": 4}))
    assert pointers(comparison) == {"/cluster/topology/groups"}


def test_options_that_do_not_determine_each_other_are_separate_axes():
    points = [{NODES: n, "/steps": s} for n, s in ((2, 10), (2, 20), (4, 10))]
    assert pointers(Comparison("", swept(*points))) == {NODES, "/steps"}


def test_options_that_no_experiment_couples_are_separate_axes():
    points = {NODES: 2, "/cluster/inter/bandwidth": "1Gbps"}, {NODES: 4, "/cluster/inter/bandwidth": "2Gbps"}
    assert pointers(Comparison("", started_separately(swept(*points)))) == {NODES, "/cluster/inter/bandwidth"}


def runs_of_two_algorithms(pointer, a, b):
    return swept({"/algorithm": "bytegrad", pointer: a}, {"/algorithm": "wagma", pointer: b})


def test_an_option_that_follows_from_the_algorithm_is_no_axis():
    runs = runs_of_two_algorithms("/cluster/transport/streams", 1, 2)
    assert not Comparison("", runs).axes
    assert pointers(Comparison("", started_separately(runs))) == {"/cluster/transport/streams"}, "this may be a mistake"


@pytest.mark.parametrize("pointer, a, b", [
    (NODES, 2, 4), ("/workload", "vgg16", "resnet50"), ("/runtime", "sim", "threads"),
    ("/cluster/stragglers/count", 0, 2), ("/target_accuracy", 0.8, 0.9),
    ("/target_loss", 0.8, 0.9)])
def test_an_option_of_the_task_is_an_axis_even_if_it_follows_from_the_algorithm(pointer, a, b):
    assert pointers(Comparison("", runs_of_two_algorithms(pointer, a, b))) == {pointer}


def test_an_option_that_follows_from_the_setting_makes_no_second_algorithm():
    points = [{NODES: n, "/algorithm": {"name": "bytegrad", "hierarchical": n == 2}} for n in (2, 4)]
    comparison = Comparison("", swept(*points))
    assert comparison.algorithms == ["bytegrad"]
    assert comparison.coupled == ["varies with nodes: algorithm hierarchical"]
    by_chance = Comparison("", started_separately(swept(*points))).algorithms
    assert by_chance == ["bytegrad (hierarchical=false)", "bytegrad (hierarchical=true)"]


def profiles(*files):
    return swept(*({"/workload": {"name": "profile", "path": f"/some/{file}.csv"}} for file in files))


def test_profiles_are_called_by_their_files():
    assert labels(Comparison("", profiles("b", "a"))) == ["a", "b"]
    same_name = labels(Comparison("", profiles("one/a", "two/a")))
    assert same_name == ["profile, path=/some/one/a.csv", "profile, path=/some/two/a.csv"]


def test_profiles_called_by_sizes_lie_on_an_axis_of_sizes():
    comparison = Comparison("", profiles("1MiB", "64KiB", "256MiB", "512KiB"))
    assert labels(comparison) == ["64 KiB", "512 KiB", "1 MiB", "256 MiB"]
    assert comparison.numeric_axis() == 0
    assert map_axes(comparison) == (0, None)


def test_an_axis_with_several_dimensions_is_not_numeric():
    assert Comparison("", profiles("1MiB", "64")).numeric_axis() is None


def test_quantities_in_texts_sort_by_size():
    texts = ["x 1MiB", "x 64KiB", "x 512KiB, b", "x 512KiB, a", "a", "x 100 Gbps", "x 16 Gbps", "10", "9"]
    assert sorted(texts, key=units.natural) == [
        "9", "10", "a", "x 64KiB", "x 512KiB, a", "x 512KiB, b", "x 1MiB", "x 16 Gbps", "x 100 Gbps"]


def test_an_element_of_a_list_is_an_axis_of_its_own():
    regions = [{"name": "a", "up": "1Gbps"}, {"name": "b", "up": "100Mbps"}]
    pointer = "/cluster/topology/regions/1/up"
    runs = []
    for i, up in enumerate(("100Mbps", "1Gbps")):
        cluster = {"topology": {"kind": "wan", "regions": [regions[0], regions[1] | {"up": up}]}}
        runs.append(Run(Path(str(i)), {"experiment": {"algorithm": "bytegrad", "cluster": cluster},
                                       "sweep": {pointer: up}, "summary": {"step_s": 1.0}}))
    comparison = Comparison("", runs)
    assert pointers(comparison) == {pointer}
    assert [axis.title for axis in comparison.axes] == ["regions 1 up"]
    assert labels(comparison) == ["0.1 Gbps", "1 Gbps"]
    assert comparison.numeric_axis() == 0


def runs_of_jobs(*points):
    """The runs of an experiment with the jobs "one" and "two", as manifests have them: of the measured job, the fields
    are at the top level."""
    runs = []
    for number, (job, sweep, fields) in enumerate(points):
        other = {"one": "two", "two": "one"}[job]
        jobs = [{"name": name, "nodes": [i]} | (fields[name] if name == other else {})
                for i, name in enumerate(("one", "two"))]
        runs.append(Run(Path(str(number)), {"experiment": {"job": job, "jobs": jobs} | fields[job],
                                            "sweep": {"/job": job} | sweep, "summary": {"step_s": 1.0 + number}}))
    return runs


def test_jobs_are_not_compared_with_each_other():
    fields = {"one": {"algorithm": "bytegrad", "steps": 3}, "two": {"algorithm": "wagma", "steps": 4}}
    comparison = Comparison("", runs_of_jobs(*((job, {}, fields) for job in fields)))
    assert pointers(comparison) == {"/job"}
    assert len(comparison.settings) == 2


def test_what_all_jobs_inherit_is_no_axis():
    for pointer, values, axes in (("seed", [1, 2, 3], {"/job"}), ("algorithm", ["bytegrad", "wagma"], {"/job"}),
                                  ("steps", [3, 4], {"/job", "/steps"})):
        points = []
        for value in values:
            same = {"algorithm": "sgp", "seed": 1, "steps": 2} | {pointer: value}
            points += [(job, {f"/{pointer}": value}, {"one": same, "two": same}) for job in ("one", "two")]
        assert pointers(Comparison("", runs_of_jobs(*points))) == axes, pointer


def test_what_varies_in_another_job_is_an_axis():
    points = []
    for value in ("bytegrad", "wagma"):
        fields = {"one": {"algorithm": "sgp"}, "two": {"algorithm": value}}
        points += [(job, {"/jobs/1/algorithm": value}, fields) for job in ("one", "two")]
    comparison = Comparison("", runs_of_jobs(*points))
    assert pointers(comparison) == {"/job", "/jobs/1/algorithm"}
    assert {axis.title for axis in comparison.axes} == {"job", "two algorithm"}
    measured = [setting for setting in comparison.settings if len(comparison.at(setting)) == 2]
    assert len(comparison.settings) == 3, "job two has both algorithms at one setting"
    assert len(measured) == 1
