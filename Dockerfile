# The program in an image: docker build -t trigram . && docker run --rm trigram doctor
# With CUDA: docker build --build-arg BASE=nvidia/cuda:12.6.3-devel-ubuntu24.04 -t trigram-cuda .
ARG BASE=debian:12

# What building and testing need; the development container ends here.
FROM ${BASE} AS packages
ENV DEBIAN_FRONTEND=noninteractive
# Where the chart library comes from; --build-arg npm_config_registry=... names a mirror.
ARG npm_config_registry=https://registry.npmjs.org
COPY scripts/setup scripts/install_charts.py /trigram/scripts/
COPY analysis/package.json analysis/package-lock.json /trigram/analysis/
RUN apt-get update -qq \
  && apt-get install -y -qq --no-install-recommends ca-certificates git make file dpkg-dev \
  && /trigram/scripts/setup && /trigram/scripts/setup --check

FROM packages AS build
COPY . /trigram
WORKDIR /trigram
# An image is built for many machines, so the build does not depend on the GPUs of this one.
RUN cmake --preset release -DTRIGRAM_BUILD_TESTS=OFF -DTRIGRAM_BUILD_BENCHMARKS=OFF -DTRIGRAM_WERROR=OFF \
  && cmake --build --preset release --target trigram \
  && cd build/release && cpack -G DEB

FROM ${BASE}
# Matplotlib needs python3-munkres or SciPy, which would bring a compiler.
RUN --mount=type=bind,from=build,source=/trigram/build/release,target=/packages \
  apt-get update -qq \
  && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
    /packages/trigram_*.deb python3-pandas python3-matplotlib python3-munkres openmpi-bin iproute2 \
    dataset-fashion-mnist bible-kjv bible-kjv-text \
  && apt-get clean && rm -rf /var/lib/apt/lists/*
# Open MPI refuses to start as root unless both are set; a container's user is root.
ENV OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
WORKDIR /work
ENTRYPOINT ["trigram"]
CMD ["--help"]
