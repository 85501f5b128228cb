"""scripts/calibrate_bagua.py, with a formula of known parameters in place of the program."""

from __future__ import annotations

import dataclasses
import json
import math
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.append(str(ROOT / "scripts"))

from bagua_calibration import cells, one_server, stages, tables  # noqa: E402
from bagua_calibration.fitting import SCALE  # noqa: E402
from bagua_calibration.identifiability import profiles, without_each  # noqa: E402
from bagua_calibration.parameters import PARAMETERS, base, description  # noqa: E402
from bagua_calibration.simulator import SimulationError, Simulator  # noqa: E402

TRUE = {
    "transport.goodput": 0.92, "transport.efficiency.leaders": 0.7, "transport.efficiency.server": 0.85,
    "transport.connection_cap": 3.5, "transport.stream_cap": 2.5, "transport.node_cap": 4.2, "transport.stage_overhead": 15.0,
    "accelerator.launch_overhead": 10.0, "accelerator.synchronize_overhead": 200.0, "intra.bandwidth": 90.0,
}
FROZEN = ("bagua_v100_limited.json", "bagua_v100_limited_vgg16.json")
FLOOR_S = 61.0
PATTERN = {"bytegrad": "leaders", "onebit_adam": "leaders", "byteps": "server",
           "decentralized": "leaders", "low_precision_decentralized": "leaders"}
RING = 0
# GB between nodes, connections (or a ring), stages, launches, GB inside nodes, seconds that computation hides, host
# waits
TRAFFIC = {
    "pytorch_ddp": (150, RING, 0, 0, 0, 20, 0), "horovod": (150, RING, 2.0e6, 0, 0, 40, 0),
    "byteps": (300, 16, 0, 0, 300, 40, 0), "bytegrad": (75, 15, 0, 3.0e6, 0, 5, 1e4),
    "onebit_adam": (10, 15, 1.0e6, 0, 0, 0, 1e5), "decentralized": (75, 1, 0, 0, 0, 5, 0),
    "low_precision_decentralized": (250, 2, 0, 0, 0, 0, 0), "async_model_average": (0, 1, 0, 0, 1800, 0, 0),
}


def simulated_time_s(values: dict[str, float], algorithm: str, gbps: float) -> float:
    """The floor plus the time of bytes and overheads that is not hidden by computation, but at least the time of the
    bytes alone."""
    bytes_GB, connections, per_stage, launches, inside_GB, hidden_s, waits = TRAFFIC[algorithm]
    share = values["transport.goodput"] * values.get(f"transport.efficiency.{PATTERN.get(algorithm)}", 1)
    rate = gbps / 8 * share
    ring_or_peers = (values["transport.connection_cap"] if connections == RING
                     else connections * values["transport.stream_cap"])
    capped = min(rate, values["transport.node_cap"], ring_or_peers)
    more_s = (per_stage * values["transport.stage_overhead"] + launches * values["accelerator.launch_overhead"]) / 1e6
    more_s += waits * values["accelerator.synchronize_overhead"] / 1e6
    more_s += inside_GB / values["intra.bandwidth"]
    return max(FLOOR_S + max(bytes_GB / capped + more_s - hidden_s, 0), bytes_GB / rate)


def simulate(requests):
    return [simulated_time_s(values, cell.algorithm, float(cell.gbps)) for values, cell in requests]


def published(columns=("1", "4", "100")) -> list[cells.Cell]:
    rows = [{"gbps": g, "algorithm": a, "epoch_s": str(simulated_time_s(TRUE, a, float(g))), "approx": "0"}
            for g in columns for a in TRAFFIC]
    return cells.read(rows)


# The parameters of the simulated testbed.
WITHOUT_PRIORS = tuple(dataclasses.replace(p, width=None) for p in PARAMETERS if p.name in TRUE)


@pytest.fixture(scope="module")
def fitted():
    calibration = stages.Calibration(simulate, published(), lambda _: None, WITHOUT_PRIORS)
    values, model = calibration.run(evaluations=20, rounds=4)
    return calibration.with_servers(values), model


def test_parameters_are_recovered(fitted):
    values, model = fitted
    assert values == {name: pytest.approx(value, rel=0.02) for name, value in TRUE.items()}
    assert max(abs(model.residuals)) * SCALE < 0.01


def test_parameters_that_the_data_determine_are_pinned(fitted):
    values, model = fitted
    found = profiles(model)
    assert {interval.pinned for interval in found} == {"yes"}
    for interval in found:
        assert interval.low < TRUE[interval.parameter.name] < interval.high
    # Two rows at two bandwidths are inversely proportional to goodput and depend on nothing else. The interval is
    # therefore the interval of the mean of four normal errors.
    goodput = next(i for i in found if i.parameter.name == "transport.goodput")
    assert math.log(goodput.high / goodput.fitted) == pytest.approx(1.96 * SCALE / 2, rel=0.3)
    text = tables.parameters(found, values)
    assert "transport.goodput" in text and "by one row alone" in text


def test_a_parameter_without_effect_is_not_pinned_and_keeps_its_prior():
    def blind(requests):
        return [simulated_time_s(values | {"transport.node_cap": 1e9}, c.algorithm, float(c.gbps)) for values, c in requests]

    rows = [{"gbps": c.gbps, "algorithm": c.algorithm, "epoch_s": str(t), "approx": "0"}
            for c in published() for t in blind([(TRUE, c)])]
    parameters = tuple(dataclasses.replace(p, width=0.3 if p.name == "transport.node_cap" else None)
                       for p in WITHOUT_PRIORS)
    calibration = stages.Calibration(blind, cells.read(rows), lambda _: None, parameters)
    values, joint = calibration.run(20, 2)
    pinned = {i.parameter.name: i.pinned for i in profiles(joint) + calibration.unpinned}
    assert pinned.pop("transport.node_cap") == "no"
    assert set(pinned.values()) == {"yes"}
    prior = next(p.prior for p in PARAMETERS if p.name == "transport.node_cap")
    assert values["transport.node_cap"] == prior


def test_leaving_out_an_inconsistent_algorithm_restores_the_true_value():
    """Its row distorts the efficiency of leaders. Without it, the other algorithms agree on the true value."""
    odd = [dataclasses.replace(c, published=1.3 * c.published) if c.algorithm == "decentralized" and c.gbps != "100"
           else c for c in published()]
    values, model = stages.Calibration(simulate, odd, lambda _: None, WITHOUT_PRIORS).run(20, 4)
    i = [p.name for p in model.problem.parameters].index("transport.efficiency.leaders")
    without = {name: math.exp(x[i]) for name, x in without_each(model).items()}
    assert values["transport.efficiency.leaders"] < 0.69
    assert without["decentralized"] == pytest.approx(0.7, rel=0.03)
    assert "decentralized" in tables.left_out(model.problem, without_each(model), values)


def test_plateaus_count_once_and_hidden_cells_half():
    rows = [{"gbps": g, "algorithm": "a", "epoch_s": s, "approx": hidden}
            for g, s, hidden in (("100", "80", "0"), ("64", "80", "0"), ("32", "81", "1"), ("1", "400", "0"))]
    read = cells.read(rows)
    assert [(c.gbps, c.weight, c.plateau) for c in read] == [
        ("100", 1, True), ("64", 1, True), ("32", 0.5, True), ("1", 1, False)]
    assert [c.gbps for c in cells.distinct(read, ("1", "32", "64", "100"))] == ["100", "32", "1"]


def test_descriptions_have_the_values_where_they_belong():
    described = description(TRUE)
    assert described["transport"]["stream_cap"] == "2.5GB/s" and described["transport"]["goodput"] == 0.92
    assert described["transport"]["efficiency"] == {
        "leaders": 0.7, "all_to_all": 0.7, "point_to_point": 0.7, "server": 0.85}
    assert described["accelerator"] == base()["accelerator"] | {"launch_overhead": "10us",
                                                                 "synchronize_overhead": "200us"}
    assert tables.read(tables.file(described)) == described


def test_rows_of_one_server_determine_the_variation_of_steps():
    """The best value has the least squares of logarithms; the mean ratio or the nearest single system would differ."""
    ratios = {0.02: {"a": 1.10, "b": 1.02}, 0.05: {"a": 1.04, "b": 0.97}, 0.08: {"a": 0.99, "b": 0.91}}
    assert one_server.best(ratios) == 0.05
    printed: list[str] = []
    one_server.print_variations(ratios, printed.append)
    assert "vary by 0.05" in printed[-1] and len(printed) == 2 + len(ratios)


def test_rows_of_one_server_determine_the_host_bandwidth():
    """Images/s are proportional to the square root of the host bandwidth; 1.44 GB/s gives the published rate."""
    assert one_server.crossing({g: {"byteps": (g / 1.44) ** 0.5} for g in (0.5, 1, 2, 4)}) == 1.44
    with pytest.raises(SimulationError, match="no value from 2 to 4 gives"):
        one_server.crossing({g: {"byteps": g} for g in (2, 4)})


def test_rows_of_one_server_are_those_of_the_paper():
    described = description(TRUE)
    others = one_server.experiment(described, False, one_server.VARIATION, (0.01, 0.02))
    byteps = one_server.experiment(described, True, one_server.HOST_BANDWIDTH, ("1GB/s",))
    assert [len(rows["zip"]) for rows in (others, byteps)] == [3, 1]
    assert {row["/cluster/nodes"] for row in others["zip"] + byteps["zip"]} == {1}
    assert others["cluster"] == described and others["sweep"][one_server.VARIATION] == [0.01, 0.02]


def described(name: str) -> dict:
    return tables.read((ROOT / "configs" / "clusters" / name).read_text(encoding="utf-8"))


def test_the_description_of_vgg16_differs_only_in_the_variation_of_steps():
    frozen, of_vgg16 = described(FROZEN[0]), described(FROZEN[1])
    variation = of_vgg16["run_times"]["variation"]
    assert one_server.with_variation(frozen, variation) == of_vgg16 and variation != frozen["run_times"]["variation"]
    page = (ROOT / "docs" / "validation-bandwidth.md").read_text(encoding="utf-8")
    assert f"steps of VGG16 vary by {variation:.2f}" in page


def test_only_experiments_with_vgg16_use_its_description():
    seen = set()
    for path in (ROOT / "configs" / "papers").glob("*.json"):
        experiment = json.loads(path.read_text(encoding="utf-8"))
        rows = experiment.get("zip", [])
        for row in rows if rows and isinstance(rows, list) else [{}]:  # a "zip" by columns sets no clusters
            cluster = str(row.get("/cluster", experiment["cluster"])).split("/")[-1]
            if cluster not in FROZEN:
                continue
            model = row.get("/workload/priced_as", row.get("/workload", experiment["workload"]))
            assert (cluster == FROZEN[1]) == (model == "vgg16"), path.name
            seen.add((path.stem, cluster))
    assert [sum(cluster == each for _, cluster in seen) for each in FROZEN] == [6, 8]


TRIGRAM = """#!{python}
import json, pathlib, sys
config, results = json.load(open(sys.argv[2])), pathlib.Path(sys.argv[4])
with open({log!r}, "a") as log:
    for number, row in enumerate(config["zip"]):
        rate = float(row["/cluster"]["inter"]["shaping"]["rate"].removesuffix("Gbps"))
        log.write(f"{{rate:g}}\\n")
        folder = results / "calibration" / str(number)
        folder.mkdir(parents=True)
        (folder / "manifest.json").write_text(json.dumps(
            {{"schema_version": 1, "id": str(number), "experiment": {{}}, "sweep": row}}))
        (folder / "metrics.jsonl").write_text("".join(
            json.dumps({{"step": i, "step_s": 1 / rate if i == 3 else 9}}) + "\\n" for i in range(config["steps"])))
        (folder / "DONE").touch()
"""


def test_a_cell_is_simulated_once(tmp_path):
    log = tmp_path / "log"
    program = tmp_path / "trigram"
    program.write_text(TRIGRAM.format(python=sys.executable, log=str(log)))
    program.chmod(0o755)
    requests = [(description(TRUE), "bytegrad", "4"), (description(TRUE), "onebit_adam", "1")]
    expected = [115.3 / 4, 115.3]
    assert Simulator(program, tmp_path / "cache")(requests) == pytest.approx(expected)
    assert Simulator(program, tmp_path / "cache")([*requests, requests[0]]) == pytest.approx([*expected, expected[0]])
    assert sorted(log.read_text().split()) == ["1", "4"]
    program.write_text("#!/bin/sh\necho no network >&2; exit 1\n")
    with pytest.raises(SimulationError, match="1 cells have no result.*no network"):
        Simulator(program, tmp_path / "cache")(requests[:1])


@pytest.mark.parametrize("name", FROZEN)
def test_the_calibration_is_frozen(name):
    """Other figures are compared with this description, so it must not change: the documents state its hash."""
    text = (ROOT / "configs" / "clusters" / name).read_text(encoding="utf-8")
    digest = tables.digest(tables.read(text))
    assert f"`{name}`: {digest}" in (ROOT / "docs" / "validation-calibration.md").read_text(encoding="utf-8")
    if text.startswith("//"):
        assert f"SHA-256 of the description: {digest}" in text
