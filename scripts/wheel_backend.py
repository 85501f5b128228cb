"""Makes the wheel of `pip install .` (PEP 517): `import trigram`, the program, its data and, if the build folder
contains it, the library for TorchScript workloads. Building needs only CMake and the packages that scripts/setup
installs.

    pip install --no-build-isolation .
    TRIGRAM_BUILD=build/dev pip install --no-build-isolation .   # with the programs of a build folder
"""

import base64
import hashlib
import os
import re
import subprocess
import sysconfig
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VERSION = re.search(r"VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text().partition("project(trigram ")[2])[1]


def tag():
    """The tag of this Python and platform, such as cp311-cp311-linux_x86_64."""
    python = f"cp{sysconfig.get_config_var('py_version_nodot')}"
    return f"{python}-{python}-{sysconfig.get_platform().replace('-', '_').replace('.', '_')}"


def build_folder():
    """The folder whose programs go into the wheel: $TRIGRAM_BUILD or, if that is unset, build/wheel, which is built
    first."""
    if given := os.environ.get("TRIGRAM_BUILD"):
        return Path(given).resolve()
    build = ROOT / "build" / "wheel"
    subprocess.run(["cmake", "--preset", "release", "-B", build, "-DTRIGRAM_PYTHON_MODULE=on", "-DTRIGRAM_CUDA=off",
                    "-DTRIGRAM_BUILD_TESTS=OFF", "-DTRIGRAM_BUILD_BENCHMARKS=OFF"], check=True, cwd=ROOT)
    subprocess.run(["cmake", "--build", build, "--target", "trigram", "with_pytorch"], check=True, cwd=ROOT)
    return build


def contents(build):
    """(path in the wheel, file) of everything that is installed."""
    data = f"trigram-{VERSION}.data"
    package = build / "python" / "trigram"
    for file in sorted(package.iterdir()):
        if file.suffix in (".py", ".so"):
            yield f"trigram/{file.name}", file
    yield f"{data}/scripts/trigram", build / "experiments" / "trigram"
    for folder in ("configs", "analysis/trigram_analysis", "analysis/published"):
        for file in sorted((ROOT / folder).rglob("*")):
            if file.is_file() and "__pycache__" not in file.parts:
                yield f"{data}/data/share/trigram/{file.relative_to(ROOT)}", file
    yield f"{data}/data/share/trigram/analysis/claims.json", ROOT / "analysis" / "claims.json"
    if (library := build / "lib" / "trigram" / "libtrigram_torch.so").exists():
        yield f"{data}/data/lib/trigram/{library.name}", library


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    name = f"trigram-{VERSION}-{tag()}.whl"
    info = f"trigram-{VERSION}.dist-info"
    texts = {
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: trigram\nVersion: {VERSION}\n",
        f"{info}/WHEEL": f"Wheel-Version: 1.0\nGenerator: wheel_backend\nRoot-Is-Purelib: false\nTag: {tag()}\n",
    }
    record = []
    with zipfile.ZipFile(Path(wheel_directory) / name, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as wheel:
        def add(path, content, mode=0o644):
            entry = zipfile.ZipInfo(path)
            entry.external_attr = (0o100000 | mode) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            wheel.writestr(entry, content)
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
            record.append(f"{path},sha256={digest},{len(content)}\n")

        for path, file in contents(build_folder()):
            add(path, file.read_bytes(), 0o755 if os.access(file, os.X_OK) else 0o644)
        for path, text in texts.items():
            add(path, text.encode())
        record.append(f"{info}/RECORD,,\n")
        wheel.writestr(f"{info}/RECORD", "".join(record))
    return name
