#!/usr/bin/env python3
"""Installs the packages of analysis/package-lock.json into analysis/node_modules, as `npm ci --ignore-scripts` would,
for machines without npm: Debian's npm depends on about 350 other packages, and reports need one file.

Packages that only tests need ("dev" in the lock file) are installed with --dev.

It downloads each package from the registry that npm would use (the variable npm_config_registry, by default
https://registry.npmjs.org) and refuses an archive whose hash is not that of the lock file."""

import base64
import hashlib
import io
import json
import os
import shutil
import sys
import tarfile
import tempfile
import urllib.request
from pathlib import Path

ANALYSIS = Path(__file__).resolve().parents[1] / "analysis"


def download(name: str, package: dict) -> bytes:
    registry = os.environ.get("npm_config_registry", "https://registry.npmjs.org").rstrip("/")
    url = f"{registry}/{name}/-/{name.split('/')[-1]}-{package['version']}.tgz"
    with urllib.request.urlopen(url, timeout=60) as answer:
        archive = answer.read()
    algorithm, expected = package["integrity"].split("-", 1)
    found = base64.b64encode(hashlib.new(algorithm, archive).digest()).decode()
    if found != expected:
        sys.exit(f"setup: {url} has the {algorithm} hash {found}, but {expected} was expected; it is not installed")
    return archive


def unpack(archive: bytes, folder: Path) -> None:
    """Replaces the folder. npm's archives have a single folder, which contains the package."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as temporary:
        with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
            tar.extractall(temporary)
        shutil.rmtree(folder, ignore_errors=True)
        next(Path(temporary).iterdir()).rename(folder)


def main() -> None:
    words = [word for word in sys.argv[1:] if word != "--dev"]
    analysis = Path(words[0]) if words else ANALYSIS
    packages = json.loads((analysis / "package-lock.json").read_text())["packages"]
    for place, package in packages.items():
        # The empty place is the project itself.
        if place and ("--dev" in sys.argv or not package.get("dev")):
            unpack(download(place.removeprefix("node_modules/"), package), analysis / place)


if __name__ == "__main__":
    try:
        main()
    except OSError as error:
        sys.exit(f"setup: {error}")
