# Sets TRIGRAM_TORCH_FOUND if PyTorch's C++ library is available, and TRIGRAM_PYTHON_MODULE_FOUND if pybind11 and
# Python's headers are. TRIGRAM_TORCH and TRIGRAM_PYTHON_MODULE select whether to use them if available (auto), to fail
# without them (on), or to ignore them (off). Builds with sanitizers do not use them.

set(TRIGRAM_TORCH auto CACHE STRING "Build TorchScript workloads (needs libtorch): auto, on or off")
set(TRIGRAM_PYTHON_MODULE auto CACHE STRING
  "Build `import trigram` (needs pybind11 and Python's headers): auto, on or off")
set_property(CACHE TRIGRAM_TORCH TRIGRAM_PYTHON_MODULE PROPERTY STRINGS auto on off)

set(TRIGRAM_TORCH_FOUND FALSE)
if(TRIGRAM_TORCH AND NOT TRIGRAM_SANITIZE)
  find_package(Torch QUIET)
  set(TRIGRAM_TORCH_FOUND ${TORCH_FOUND})
endif()
if(NOT TRIGRAM_TORCH_FOUND AND TRIGRAM_TORCH STREQUAL "on")
  message(FATAL_ERROR "TRIGRAM_TORCH is on, but there is no libtorch: install libtorch-dev, or say where its CMake "
    "package is by -DTorch_DIR=...")
endif()

set(TRIGRAM_PYTHON_MODULE_FOUND FALSE)
if(TRIGRAM_PYTHON_MODULE AND NOT TRIGRAM_SANITIZE)
  if(NOT Python_EXECUTABLE AND EXISTS /usr/bin/python3)  # the distribution's, for which scripts/setup installs packages
    set(Python_EXECUTABLE /usr/bin/python3)
  endif()
  find_package(Python COMPONENTS Interpreter Development.Module QUIET)
  if(Python_Development.Module_FOUND)
    find_package(pybind11 2.10 QUIET CONFIG)
    set(TRIGRAM_PYTHON_MODULE_FOUND ${pybind11_FOUND})
  endif()
endif()
if(NOT TRIGRAM_PYTHON_MODULE_FOUND AND TRIGRAM_PYTHON_MODULE STREQUAL "on")
  message(FATAL_ERROR "TRIGRAM_PYTHON_MODULE is on, but pybind11 or Python's headers are missing: install pybind11-dev "
    "and python3-dev, or say where pybind11's CMake package is by -Dpybind11_DIR=...")
endif()
if(TRIGRAM_PYTHON_MODULE_FOUND)
  # The module is a shared library that contains the static libraries.
  target_compile_options(trigram_options INTERFACE
    "$<BUILD_INTERFACE:$<$<COMPILE_LANGUAGE:CXX>:-fPIC;-fno-semantic-interposition>>")
endif()
