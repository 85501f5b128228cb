"""Profiles from traces: recorded ones of PyTorch's profiler (tests/data/traces), and small ones in current formats."""

from __future__ import annotations

import json
import shutil
from typing import Any

from harness import SOURCE, CommandTest, needs_simulator

TRACES = SOURCE / "tests" / "data" / "traces"
# The parameters of the recorded models, as make_traces.py prints them.
PARAMETERS = {
    "mlp": [16384, 256, 2560, 10],
    "cnn": [72, 8, 8, 8, 54080, 10],
    "tied": [1200, 24, 24, 576, 24, 24, 24, 576, 24],
}
Event = dict[str, Any]


def passes_us(events: list[Event], step: str) -> float:
    """The time from the first operation of the forward pass to the end of the backward pass, read from a trace."""
    (whole,) = [e for e in events if e["name"] == step]
    inside = [e for e in events if whole["ts"] <= e["ts"] and e["ts"] + e["dur"] <= whole["ts"] + whole["dur"]]
    (zero,) = [e for e in inside if e["name"].startswith("Optimizer.zero_grad")]
    after_zero = [e for e in inside if e["name"].startswith("aten::") and e["ts"] >= zero["ts"] + zero["dur"]]
    return max(e["ts"] + e["dur"] for e in inside if "evaluate_function" in e["name"]) - after_zero[0]["ts"]


class Import(CommandTest):
    def imported(self, *arguments: Any, code: int = 0) -> tuple[dict[str, Any], str]:
        done = self.trigram("import", *arguments, "-o", "net.json", code=code)
        return json.loads((self.folder / "net.json").read_text()), done.stderr

    def import_json(self, trace: Any, *arguments: Any) -> tuple[dict[str, Any], str]:
        return self.imported(self.write(trace, "trace.json"), *arguments)


class RecordedTraces(Import):
    def test_gradients_are_exact(self) -> None:
        for name, parameters in PARAMETERS.items():
            with self.subTest(name):
                profile, _ = self.imported(TRACES / f"{name}.json")
                self.assertEqual(sorted(t["numel"] for t in profile["tensors"]), sorted(parameters))
                self.assertEqual(len({t["tensor"] for t in profile["tensors"]}), len(parameters))

    @needs_simulator
    def test_one_worker_takes_the_time_of_the_traced_passes(self) -> None:
        for name in PARAMETERS:
            with self.subTest(name):
                trace = TRACES / f"{name}.json"
                self.trigram("import", trace, "-o", "net.csv")
                step_us = passes_us(json.loads(trace.read_text())["traceEvents"], "ProfilerStep#2")
                # The optimizer, which the trace's passes do not contain, takes no time.
                cluster = {"nodes": 1, "inter": {"bandwidth": "1Gbps", "latency": "0ms"},
                           "accelerator": {"flops": "1000TFLOP/s", "memory_bandwidth": "1000000GB/s",
                                           "launch_overhead": "0us"}}
                (run,) = self.run_config({"runtime": "sim", "cluster": cluster, "algorithm": "gradient_allreduce",
                                          "workload": "profile:net.csv", "steps": 4, "name": "test"}, "--force")
                shutil.rmtree(self.results)
                self.assertAlmostEqual(run["summary"]["step_s"] / (step_us * 1e-6), 1, delta=0.01)

    def test_layers_and_their_order(self) -> None:
        profile, _ = self.imported(TRACES / "mlp.json")
        self.assertEqual([t["tensor"] for t in profile["tensors"]],
                         ["linear_0.weight", "linear_0.bias", "linear_1.weight", "linear_1.bias"])
        self.assertEqual(profile["batch"], 32)
        first, _, last, _ = profile["tensors"]
        self.assertGreater(first["forward_s"], last["forward_s"])  # of 64 x 256 and 256 x 10 elements

    def test_other_parts_of_the_step_are_listed(self) -> None:
        profile, errors = self.imported(TRACES / "cnn.json")
        for part in ("Optimizer.step", "Optimizer.zero_grad", "of ProfilerStep#2 outside"):
            (line,) = [line for line in profile["assumed"] if part in line]
            self.assertIn(f"left out: {line.removeprefix('left out: ')}", errors)

    def test_a_step_can_be_chosen(self) -> None:
        first, _ = self.imported(TRACES / "mlp.json", "--step", 1)
        last, _ = self.imported(TRACES / "mlp.json")
        self.assertNotEqual(first["tensors"], last["tensors"])
        self.assertIn("expected a step of the trace: 1, 2",
                      self.refusal("import", TRACES / "mlp.json", "--step", 3))


def operation(name: str, ts: float, dur: float, sequence: int = -1, dims: Any = None, tid: Any = 1) -> Event:
    arguments = {"Sequence number": sequence} | ({"Input Dims": dims} if dims is not None else {})
    return {"ph": "X", "cat": "cpu_op", "name": name, "pid": 1, "tid": tid, "ts": ts, "dur": dur, "args": arguments}


def of_kind(kind: str, name: str, ts: float, dur: float, tid: Any = 1, **arguments: Any) -> Event:
    return {"ph": "X", "cat": kind, "name": name, "pid": 1, "tid": tid, "ts": ts, "dur": dur, "args": arguments}


def accumulate(ts: float, dims: list[int], tid: Any = 1) -> list[Event]:
    return [operation("autograd::engine::evaluate_function: torch::autograd::AccumulateGrad", ts, 2, tid=tid),
            operation("torch::autograd::AccumulateGrad", ts, 1, dims=[dims], tid=tid)]


def two_layers() -> list[Event]:
    """Calls of two modules, as PyTorch 2 traces them with with_stack=True."""
    return [
        of_kind("user_annotation", "ProfilerStep#7", 0, 1000),
        of_kind("python_function", "nn.Module: Linear_0", 100, 50),
        operation("aten::linear", 110, 30, 10, [[8, 4], [6, 4], [6]]),
        operation("aten::t", 111, 2, 10),
        operation("aten::addmm", 115, 20, 11),
        operation("aten::relu", 160, 10, 12),
        of_kind("python_function", "nn.Module: Linear_1", 200, 100),
        operation("aten::linear", 210, 80, 13, [[8, 6], [2, 6]]),
        operation("aten::t", 211, 2, 13),
        operation("aten::mm", 220, 60, 14),
        operation("aten::mse_loss", 320, 30, 15),
        operation("autograd::engine::evaluate_function: MmBackward0", 400, 100, 14, tid=2),
        operation("autograd::engine::evaluate_function: TBackward0", 500, 5, 13, tid=2),
        *accumulate(510, [2, 6], tid=2),
        operation("autograd::engine::evaluate_function: AddmmBackward0", 520, 200, 11, tid=2),
        *accumulate(730, [6], tid=2),
        operation("autograd::engine::evaluate_function: TBackward0", 735, 5, 10, tid=2),
        *accumulate(740, [6, 4], tid=2),
        of_kind("user_annotation", "Optimizer.step#AdamW.step", 800, 100),
    ]


class CurrentTraces(Import):
    """Traces in the format of PyTorch 2."""

    def test_modules_name_layers_and_rows_add_up(self) -> None:
        profile, _ = self.import_json({"schemaVersion": 1, "traceEvents": two_layers()})
        rows = [(t["tensor"], t["numel"], round(t["forward_s"] * 1e6, 3), round(t["backward_s"] * 1e6, 3))
                for t in profile["tensors"]]
        # Forward: 100 to 150, then to the loss's end, 350. Backward: from 350 to the ends of 511, 731 and 742.
        self.assertEqual(rows, [("Linear_0.weight", 24, 50, 11), ("Linear_0.bias", 6, 0, 220),
                                ("Linear_1.weight", 12, 200, 161)])
        self.assertEqual(profile["batch"], 8)

    def test_kernels_give_the_times_of_an_accelerator(self) -> None:
        launches = [(115, 1), (220, 2), (325, 3), (420, 4), (525, 5), (530, 6)]
        kernels = {1: (1000, 100), 2: (1100, 300), 3: (1400, 10), 4: (1410, 500), 5: (1910, 700), 6: (1500, 5000)}
        events = two_layers()
        for ts, number in launches:
            events.append(of_kind("cuda_runtime", "cudaLaunchKernel", ts, 2, correlation=number))
            ts, dur = kernels[number]
            name = "ncclDevKernel_AllReduce_Sum_f32_RING_LL" if number == 6 else "void at::native::gemm<float>()"
            events.append(of_kind("kernel", name, ts, dur, tid=7, correlation=number))
        profile, errors = self.import_json({"deviceProperties": [{"id": 0, "name": "NVIDIA A100"}],
                                            "traceEvents": events})
        times = [(round(t["forward_s"] * 1e6, 3), round(t["backward_s"] * 1e6, 3)) for t in profile["tensors"]]
        self.assertEqual(times, [(100, 0), (0, 700), (310, 500)])
        self.assertEqual(profile["accelerator"], "NVIDIA A100")
        self.assertIn("left out: 1 events of communication, 5 ms", errors)

    def test_half_precision_is_said(self) -> None:
        events = two_layers()
        for event in events:
            if event["name"] == "torch::autograd::AccumulateGrad":
                event["args"]["Input type"] = ["c10::BFloat16"]
        self.assertIn("gradients of type c10::BFloat16", self.import_json({"traceEvents": events})[1])

    def refused(self, trace: Any, *arguments: Any) -> str:
        return self.refusal("import", self.write(trace, "trace.json"), *arguments)

    def test_mistakes_are_one_line(self) -> None:
        events = two_layers()
        shapeless = [e | {"args": {}} for e in events]
        backwardless = [e for e in events if "autograd" not in e["name"]]
        twice = events[:-1] + [e | {"ts": e["ts"] + 2000, "args": e["args"] | (
            {"Sequence number": e["args"]["Sequence number"] + 50} if e["args"].get("Sequence number", -1) > 0 else {})}
            for e in events[1:]]
        broken = [{**events[0], "dur": "long"}]
        cases: list[tuple[Any, str]] = [
            ({"traceEvents": shapeless}, "/traceEvents/14/args/Input Dims: expected the shape of a gradient"),
            ({"traceEvents": backwardless}, "has no event torch::autograd::AccumulateGrad"),
            ({"traceEvents": events[11:]}, "has no operation before its backward pass"),
            ({"traceEvents": twice[1:]}, "has several passes"),
            ({"traceEvents": broken}, "/traceEvents/0/dur: expected a number"),
            ({"traceEvents": [events[0] | {"ts": 1e300}]}, "/traceEvents/0/ts: expected a number of microseconds"),
            ({"traceEvents": [7]}, "/traceEvents/0: expected an event"),
            ({"traceEvents": 7}, "/traceEvents: expected a list"),
            ({"schema": "1.1.1-chakra.0.0.4", "nodes": []}, "which has no times"),
            ({"x": 1}, "expected the list of events of torch.profiler, or nodes of a Chakra execution trace"),
            ("", "is empty"),
            ("\x12\x0a binary", "is not JSON"),
            ('{"traceEvents": [}', "line 1, column 18: expected valid JSON"),
        ]
        for trace, expected in cases:
            with self.subTest(expected):
                self.assertIn(expected, self.refused(trace))

    def test_truncated_files_are_one_line(self) -> None:
        text = (TRACES / "mlp.json").read_text()
        for part in (1, 100, len(text) // 3, len(text) // 2, len(text) - 4):
            with self.subTest(part):
                self.assertIn("truncated", self.refused(text[:part]))


def node(number: int, name: str, kind: str, deps: list[int] = [], micros: int = 0, **attributes: Any) -> Event:
    """A node as chakra_jsonizer prints it: numbers of 64 bits are strings, and zeros are absent."""
    entry: Event = {"name": name, "type": kind, "attr": [{"name": "is_cpu_op", "boolVal": False}]}
    entry |= {"id": str(number)} if number else {}
    entry |= {"dataDeps": [str(d) for d in deps]} if deps else {}
    entry |= {"durationMicros": str(micros)} if micros else {}
    entry["attr"] += [{"name": key, "int64Val": str(value)} for key, value in attributes.items()]
    return entry


def chakra_nodes() -> list[Event]:
    """Two layers, as Chakra's converter of text workloads writes them."""
    return [
        node(0, "COMP_NODE_conv_FWD", "COMP_NODE", micros=100),
        node(1, "COMP_NODE_fc_FWD", "COMP_NODE", [0], micros=50),
        node(2, "COMP_NODE_fc_BWD_WG", "COMP_NODE", [1], micros=60),
        node(3, "COMM_COLL_NODE_fc_ALLREDUCE", "COMM_COLL_NODE", [2], comm_type=0, comm_size=4096),
        node(4, "COMP_NODE_fc_BWD_IG", "COMP_NODE", [2], micros=40),
        node(5, "COMP_NODE_conv_BWD_WG", "COMP_NODE", [4], micros=200),
        node(6, "COMM_COLL_NODE_conv_ALLREDUCE", "COMM_COLL_NODE", [5], comm_type=0, comm_size=1024),
        node(7, "COMM_COLL_NODE_x_ALLTOALL", "COMM_COLL_NODE", [5], comm_type=6, comm_size=77),
    ]


class ChakraTraces(Import):
    ROWS = [("conv", 256, 100, 240), ("fc", 1024, 50, 60)]

    def rows(self, trace: Any) -> list[tuple[Any, ...]]:
        profile, _ = self.import_json(trace, "--batch", 16)
        self.assertEqual(profile["batch"], 16)
        return [(t["tensor"], t["numel"], round(t["forward_s"] * 1e6, 3), round(t["backward_s"] * 1e6, 3))
                for t in profile["tensors"]]

    def test_all_forms_of_the_file(self) -> None:
        nodes = chakra_nodes()
        printed = json.dumps({"version": "0.0.4"}) + "".join(json.dumps(n, indent=2) for n in nodes)
        for trace in (printed, json.dumps(nodes), {"nodes": nodes}):
            self.assertEqual(self.rows(trace), self.ROWS)

    def test_recorded_times_count_once(self) -> None:
        nodes = chakra_nodes()
        for entry, start in zip(nodes, [1000, 1100, 1200, 0, 1200, 1300]):
            if start:
                entry["startTimeMicros"] = str(start)
        # 1150 to 1200 is idle, and fc's two backward nodes overlap: 1200 to 1260 and 1240.
        self.assertEqual(self.rows(nodes), [("conv", 256, 100, 200), ("fc", 1024, 50, 60)])

    def test_what_cannot_be_attributed_is_listed(self) -> None:
        nodes = chakra_nodes()
        nodes[0]["name"] = "aten::convolution"
        nodes.append(node(8, "optimizer", "COMP_NODE", [6], micros=30))
        _, errors = self.import_json(nodes)
        self.assertIn("0.1 ms of forward computation belong to no gradient", errors)
        self.assertIn("left out: 1 collectives ALL_TO_ALL that exchange no gradients, 77 bytes", errors)
        self.assertIn("left out: 0.03 ms of computation after the backward pass", errors)

    def test_messages_of_tensor_parallelism_are_no_gradients(self) -> None:
        nodes = chakra_nodes()
        nodes[4]["dataDeps"] = ["3"]  # the next backward node takes the result
        self.assertEqual([row[0] for row in self.rows(nodes)], ["conv"])

    def test_mistakes_are_one_line(self) -> None:
        def changed(number: int, **changes: Any) -> list[Event]:
            nodes = chakra_nodes()
            nodes[number] |= changes
            return nodes

        cases: list[tuple[Any, str]] = [
            (changed(2, dataDeps=["99"]), "/2/dataDeps/0: expected the id of a node of the trace, not \"99\""),
            (changed(2, id="1"), "/2/id: expected distinct ids; 1 occurs twice"),
            (changed(0, dataDeps=["5"]), "/0: expected dependencies without a cycle"),
            (changed(1, durationMicros="-5"), "/1/durationMicros: expected a number that is not negative"),
            ([entry | {"durationMicros": 0} for entry in chakra_nodes()], "no COMP_NODE has a duration"),
            (chakra_nodes()[:3], "the trace has no allreduce after backward computation"),
        ]
        for trace, expected in cases:
            with self.subTest(expected):
                refused = self.refusal("import", self.write(trace, "trace.json"))
                self.assertIn(expected, refused)
                self.assertIn("trace.json", refused)

    def test_step_is_for_the_profiler(self) -> None:
        self.assertIn("--step", self.refusal("import", self.write(chakra_nodes(), "trace.json"), "--step", 1))
