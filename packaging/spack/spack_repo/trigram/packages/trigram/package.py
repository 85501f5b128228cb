from spack_repo.builtin.build_systems.cmake import CMakePackage, generator
from spack_repo.builtin.build_systems.cuda import CudaPackage

from spack.package import *


class Trigram(CMakePackage, CudaPackage):
    """A testbed for data-parallel training with relaxed communication: a simulator, and the same algorithms in real
    time as threads, MPI processes or on GPUs. `trigram serve` is not built, as Spack's cpp-httplib has no pkg-config
    file."""

    # The sources come from a checkout: spack develop -p CHECKOUT trigram@main
    version("main", branch="main")

    license("MIT")

    variant("sim", default=True, description="Build the simulated world")
    variant("mpi", default=True, description="Build the world of MPI processes")
    variant("mimalloc", default=True, description="Allocate memory with mimalloc, which makes simulations faster")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("ninja", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("eigen@3.4:3")
    depends_on("highway@1.0.3:")
    depends_on("nlohmann-json@3.11:")
    depends_on("cli11@2.1:")
    depends_on("spdlog@1.10:")
    depends_on("fmt@9:")
    depends_on("zlib-api")
    depends_on("openssl")
    depends_on("nlopt@2.7: ~python")
    depends_on("simgrid@3.32:", when="+sim")
    depends_on("boost", when="+sim")
    depends_on("mpi@3:", when="+mpi")
    conflicts("~mpi", when="+cuda", msg="the world of GPUs needs MPI")
    conflicts("cuda_arch=none", when="+cuda", msg="name the GPUs' compute capability, for instance cuda_arch=80")
    depends_on("cuda@12:", when="+cuda")
    depends_on("nccl@2.18:", when="+cuda")
    for arch in CudaPackage.cuda_arch_values:
        depends_on(f"nccl cuda_arch={arch}", when=f"+cuda cuda_arch={arch}")
    depends_on("mimalloc", when="+mimalloc")
    # Tables and reports run this Python.
    depends_on("python@3.11:", type="run")
    depends_on("py-pandas", type="run")
    depends_on("py-matplotlib", type="run")

    generator("ninja")

    def cmake_args(self):
        args = [
            self.define_from_variant("TRIGRAM_WITH_SIM", "sim"),
            self.define_from_variant("TRIGRAM_WITH_MPI", "mpi"),
            self.define("TRIGRAM_CUDA", "on" if self.spec.satisfies("+cuda") else "off"),
            self.define("TRIGRAM_BUILD_TESTS", False),
            self.define("TRIGRAM_BUILD_BENCHMARKS", False),
            self.define("TRIGRAM_WERROR", False),
        ]
        if self.spec.satisfies("+cuda"):
            args.append(self.define("CMAKE_CUDA_ARCHITECTURES", list(self.spec.variants["cuda_arch"].value)))
        return args

    def setup_run_environment(self, env: EnvironmentModifications) -> None:
        env.set("PYTHON", self.spec["python"].command.path)
