"""Exported results, read back with other code than that which wrote them."""

from __future__ import annotations

import csv
import importlib.util
import json
import struct
from pathlib import Path

import pytest
import sample
from trigram_analysis import event_file, export, results
from trigram_analysis.__main__ import main


@pytest.fixture()
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "sample"
    for seed in (1, 2):
        run = sample.write_run(root, f"run{seed}", seed=seed, steps=5)
        sample.edit(run, lambda m: m["summary"].update(cost={"usd_per_step": 0.25, "kwh_per_step": None}))
        sample.edit(run, lambda m: m.update(started="2026-01-02T03:04:05Z"))
    return root


def test_csv(folder: Path) -> None:
    assert main(["export", str(folder), "--format", "csv"]) == 0
    with (folder / "export" / "runs.csv").open() as file:
        runs = list(csv.DictReader(file))
    assert [run["id"] for run in runs] == ["run1", "run2"]
    loaded = results.load(folder).runs
    assert [float(run["step_s"]) for run in runs] == [run.number("step_s") for run in loaded]
    assert [run["cost.usd_per_step"] for run in runs] == ["0.25", "0.25"]
    assert [run["cost.kwh_per_step"] for run in runs] == ["", ""]
    with (folder / "export" / "metrics.csv").open() as file:
        steps = list(csv.DictReader(file))
    assert [(s["id"], s["step"]) for s in steps] == [(f"run{r}", str(i)) for r in (1, 2) for i in range(5)]


def test_a_formula_is_no_formula(folder: Path) -> None:
    sample.edit(folder / "run1", lambda m: m.update(sweep={"/name": "=cmd()", "/n": -3}))
    export.write(results.load(folder).runs, folder / "out", ["csv"])
    with (folder / "out" / "runs.csv").open() as file:
        run = next(csv.DictReader(file))
    assert (run["/name"], run["/n"]) == ("'=cmd()", "-3")


def test_jsonl(folder: Path) -> None:
    assert main(["export", str(folder), "-o", str(folder / "out"), "--format", "jsonl"]) == 0
    lines = (folder / "out" / "metrics.jsonl").read_text().splitlines()
    originals = (folder / "run1" / "metrics.jsonl").read_text().splitlines()
    assert json.loads(lines[0]) == {"id": "run1", **json.loads(originals[0])}
    runs = [json.loads(line) for line in (folder / "out" / "runs.jsonl").read_text().splitlines()]
    assert runs[0]["algorithm"] == "bytegrad" and runs[0]["cost.usd_per_step"] == 0.25


def test_crc_of_the_standard() -> None:
    """RFC 3720, section B.4, and the check value of the catalogue of CRCs."""
    assert event_file.crc32c(b"123456789") == 0xE3069283
    assert event_file.crc32c(bytes(32)) == 0x8A9136AA
    assert event_file.crc32c(b"\xff" * 32) == 0x62A8AB43


def records(data: bytes) -> list[bytes]:
    found = []
    while data:
        (length,) = struct.unpack_from("<Q", data)
        for part, at in ((data[:8], 8), (data[12 : 12 + length], 12 + length)):
            (masked,) = struct.unpack_from("<I", data, at)
            rotated = (masked - 0xA282EAD8) % 2**32
            assert (rotated >> 17 | rotated << 15) % 2**32 == event_file.crc32c(part)
        found.append(data[12 : 12 + length])
        data = data[16 + length :]
    return found


def fields(message: bytes) -> dict[int, list]:
    """The fields of a protocol buffer by their numbers, as raw values."""
    found: dict[int, list] = {}

    def varint() -> int:
        nonlocal message
        value = shift = 0
        while True:
            byte, message = message[0], message[1:]
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    while message:
        key = varint()
        wire, number = key & 7, key >> 3
        size = {1: 8, 5: 4}.get(wire)
        if wire == 0:
            value: int | bytes = varint()
        else:
            length = varint() if size is None else size
            value, message = message[:length], message[length:]
        found.setdefault(number, []).append(value)
    return found


def test_event_files(folder: Path) -> None:
    assert main(["export", str(folder), "--format", "tensorboard"]) == 0
    (path,) = (folder / "export" / "tensorboard" / "run2").iterdir()
    version, *steps = map(fields, records(path.read_bytes()))
    assert version[3] == [b"brain.Event:2"]
    lines = [json.loads(line) for line in (folder / "run2" / "metrics.jsonl").read_text().splitlines()]
    assert len(steps) == len(lines) == 5
    for event, line in zip(steps, lines):
        assert event[2] == [line["step"]]
        assert struct.unpack("<d", event[1][0])[0] == pytest.approx(1767323045 + line["time_s"])
        values = {}
        for value in fields(event[5][0])[1]:
            scalar = fields(value)
            values[scalar[1][0].decode()] = struct.unpack("<f", scalar[2][0])[0]
        expected = {key: v for key, v in line.items() if key not in ("step", "time_s") and v is not None}
        assert values == pytest.approx(expected, rel=1e-6)


def test_a_hostile_id_stays_in_the_folder(folder: Path) -> None:
    sample.edit(folder / "run1", lambda m: m.update(id="../../escaped"))
    export.write(results.load(folder).runs, folder / "out", ["tensorboard"])
    assert {p.name for p in (folder / "out" / "tensorboard").iterdir()} == {"run-0", "run2"}


def test_parquet_or_the_reason_why_not(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code = main(["export", str(folder), "--format", "parquet"])
    if importlib.util.find_spec("pyarrow"):
        assert code == 0
    else:
        assert code == 2
        assert "pyarrow" in capsys.readouterr().err
