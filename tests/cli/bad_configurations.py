"""Configurations that are refused, each with the name of its mistake and a part of the error message."""

from __future__ import annotations

from typing import Any

from harness import CLUSTER, experiment


def changed_cluster(**changes: Any) -> dict[str, Any]:
    return CLUSTER | changes


def inter(**link: str) -> dict[str, Any]:
    return changed_cluster(inter={"bandwidth": "10Gbps", "latency": "50us", **link})


# mistake: (configuration, pointer, part of the message)
CASES = {
    "unknown key": (experiment(stepz=3), "/stepz", 'did you mean "steps"?'),
    "unknown workload": (experiment(workload="vgg"), "/workload", 'did you mean "vgg16"?'),
    "part of a name": (experiment(workload="fashion"), "/workload", 'did you mean "fashion_mnist"?'),
    "a delay without stragglers": (
        experiment(cluster=changed_cluster(stragglers={"delay": "10ms"})),
        "/cluster/stragglers/delay", "expected a \"count\" above 0",
    ),
    "a seed of constant run times": (
        experiment(cluster=changed_cluster(run_times={"kind": "constant", "seed": 5})),
        "/cluster/run_times/seed", "constant times are not drawn",
    ),
    "run times that do not vary": (
        experiment(cluster=changed_cluster(run_times={"kind": "lognormal"})),
        "/cluster/run_times/variation", "missing",
    ),
    "noise beyond the range of run times": (
        experiment(cluster=changed_cluster(
            run_times={"kind": "lognormal", "variation": 0.1, "order": "balanced", "random_level": 2})),
        "/cluster/run_times/random_level", "expected a number from 0 to 1, not 2",
    ),
    "a factor without decay": (
        experiment(optimizer={"name": "sgd", "decay_factor": 0.5}),
        "/optimizer/decay_factor", 'expected "decay": "step"',
    ),
    "a profile without its prefix": (
        experiment(workload="mymodel.csv"),
        "/workload", 'did you mean "profile:mymodel.csv"?',
    ),
    "a name that is a file of runs": (experiment(name="manifest.json"), "/name", "no file or folder of a run"),
    "a name like that of an unfinished run": (experiment(name="a.tmp.b"), "/name", "no file or folder of a run"),
    "a number above the range of a double": (
        '{"steps": 1,\n "seed": 1e309}',
        "test.json:2:10: ", "expected a number between -1.8e308 and 1.8e308, not 1e309",
    ),
    "a number below the range of a double": (
        '{"steps": -1e309}',
        "test.json:1:11: ", "expected a number between -1.8e308 and 1.8e308, not -1e309",
    ),
    "nesting that is too deep": ("[" * 70_000 + "]" * 70_000, "test.json: ", "at most 100 levels deep"),
    "stragglers without a delay": (
        experiment(cluster=changed_cluster(stragglers={"count": 1})),
        "/cluster/stragglers/delay", "above 0",
    ),
    "unknown world": (experiment(runtime="thread"), "/runtime", 'did you mean "threads"?'),
    "unknown optimizer": (experiment(optimizer="adamm"), "/optimizer", 'did you mean "adam"?'),
    "norms of tensors that buckets cut": (
        experiment(optimizer="lamb", workload={"name": "quadratic", "priced_as": "vgg16"}),
        "/optimizer", "the buckets of a model with the prices of another one cut its tensors",
    ),
    "matrices of a profile": (
        experiment(optimizer="muon", workload="vgg16"),
        "/optimizer", "knows only the lengths of its tensors",
    ),
    "missing key": ({k: v for k, v in experiment().items() if k != "workload"}, "/workload", "missing"),
    "wrong type": (experiment(steps="many"), "/steps", "expected an integer"),
    "no steps": (experiment(steps=0), "/steps", "an integer from 1"),
    "wrong unit": (experiment(cluster=inter(bandwidth="10GHz")), "/cluster/inter/bandwidth", "Gbps"),
    "a unit in another spelling": (
        experiment(cluster=inter(bandwidth="25 Gbit/s")),
        "/cluster/inter/bandwidth", 'did you mean "Gbps"?',
    ),
    "the same in small letters": (
        experiment(cluster=inter(bandwidth="25gbit/s")),
        "/cluster/inter/bandwidth", 'did you mean "Gbps"?',
    ),
    "no unit": (experiment(cluster=inter(latency=50)), "/cluster/inter/latency", "unit"),
    "no worker": (experiment(cluster=changed_cluster(nodes=0)), "/cluster/nodes", "an integer from 1"),
    "option of another workload": (
        experiment(workload={"name": "bert_large", "priced_as": "vgg16"}),
        "/workload/priced_as", "expected one of step_time, batch, accelerator, buckets",
    ),
    "no such cluster": (experiment(cluster="nowhere.json"), "/cluster", "nowhere.json"),
    "no such profile": (experiment(workload="profile:nowhere.csv"), "/workload", "nowhere.csv"),
    "sweep of an unknown option": (experiment(sweep={"/clster/nodes": [1, 2]}), "/clster", 'did you mean "cluster"?'),
    "sweep of a field of a number": (experiment(sweep={"/steps/deep": [1]}), "/sweep/~1steps~1deep", "no fields"),
    "sweep without a slash": (experiment(sweep={"steps": [1]}), "/sweep/steps", "JSON pointer"),
    "empty sweep": (experiment(sweep={"/steps": []}), "/sweep/~1steps", "not empty"),
    "no seeds": (experiment(seed=[]), "/seed: ", "a list of seeds"),
    "bad value in a sweep": (experiment(sweep={"/steps": [1, -1]}), "/steps", "an integer from 1"),
    "unequal zip": (experiment(zip={"/steps": [1, 2], "/seed": [1, 2, 3]}), "/zip/", "as many as the other lists"),
    "the same run twice": (experiment(sweep={"/steps": [2, 2]}), "/sweep", "same experiment"),
    "name with a slash": (experiment(name="a/b"), "/name", "letters"),
    "empty file": ("", "test.json:1:1", "expected JSON"),
    "not an object": ([1, 2], "/", "an object"),
    "no JSON": ('{\n  "steps": 1,\n  oops\n}', "test.json:3:", "expected JSON"),
    "key twice": ('{"steps": 1, "steps": 2}', "test.json", "twice"),
}
