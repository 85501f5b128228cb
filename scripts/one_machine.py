"""The environment of one_machine.env, for programs in Python."""

from pathlib import Path

_LINES = Path(__file__).with_suffix(".env").read_text(encoding="utf-8").splitlines()
ENVIRONMENT = dict(line.split("=", 1) for line in _LINES if not line.startswith("#"))
