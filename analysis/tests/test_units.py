import pytest
from trigram_analysis import units


@pytest.mark.parametrize(
    "text, expected",
    [
        ("25Gbps", ("bandwidth", 25e9)),
        ("3.125GB/s", ("bandwidth", 25e9)),
        ("50 us", ("duration", 50e-6)),
        ("10MiB", ("bytes", 10 * 2**20)),
        ("15.7TFLOP/s", ("flop rate", 15.7e12)),
        (4, ("number", 4.0)),
        ("ring", None),
        ("4 bananas", None),
        ("1.2.3s", None),
        (True, None),
        (None, None),
        ({"name": "sim"}, None),
    ],
)
def test_quantity(text, expected):
    parsed = units.quantity(text)
    assert parsed == (expected and (expected[0], pytest.approx(expected[1])))


def test_one_bandwidth_written_two_ways_is_shown_alike():
    assert units.show("25Gbps") == units.show("3.125GB/s") == "25 Gbps"


def test_configured_sizes_are_round():
    assert [units.show(text) for text in ("64KiB", "1MiB", "1.5MiB", "1536B", "1kB", "0B")] == [
        "64 KiB", "1 MiB", "1.57 MB", "1.54 kB", "1.00 kB", "0 B"]


def test_configured_durations_are_round():
    assert [units.show(text) for text in ("50us", "1ms", "0.0025s", "2s", "0s")] == [
        "50 µs", "1 ms", "2.5 ms", "2 s", "0 s"]


def test_matrices_are_shown_as_ranges():
    matrix = [[None, "0.5Gbps", "1Gbps"], ["0.75Gbps", None, "400Mbps"]]
    assert units.show(matrix) == "0.4 Gbps to 1 Gbps"
    assert units.show([4, 4, 2]) == "[4, 4, 2]"


@pytest.mark.parametrize(
    "value, text",
    [(0.0001234, "123 µs"), (0.5, "500 ms"), (1.5, "1.50 s"), (1234.5, "1,234 s"), (0.0, "0 s")],
)
def test_seconds(value, text):
    assert units.seconds(value) == text


@pytest.mark.parametrize("value, text", [(999, "999 B"), (1500, "1.50 kB"), (2e9, "2.00 GB")])
def test_nbytes(value, text):
    assert units.nbytes(value) == text
