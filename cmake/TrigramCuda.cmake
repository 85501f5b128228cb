# Sets TRIGRAM_CUDA_FOUND if the language CUDA and the targets CUDA::cudart and CUDA::cublas are available,
# TRIGRAM_NCCL_FOUND if NCCL is available, too, and TRIGRAM_GPU_FOUND if this machine has a GPU. TRIGRAM_CUDA selects
# whether to use them if available (auto), to fail without them (on), or to ignore them (off).
#
# CMAKE_CUDA_ARCHITECTURES defaults to the architectures of this machine's GPUs or, without a GPU, to Ampere and Hopper.

# Sets the variable `result` to TRUE if nvidia-smi lists a GPU.
function(trigram_find_gpu result)
  set(${result} FALSE PARENT_SCOPE)
  find_program(TRIGRAM_NVIDIA_SMI nvidia-smi)
  mark_as_advanced(TRIGRAM_NVIDIA_SMI)
  if(TRIGRAM_NVIDIA_SMI)
    execute_process(COMMAND ${TRIGRAM_NVIDIA_SMI} -L OUTPUT_VARIABLE gpus RESULT_VARIABLE failed
      ERROR_QUIET)
    if(NOT failed AND gpus MATCHES "GPU 0")
      set(${result} TRUE PARENT_SCOPE)
    endif()
  endif()
endfunction()

set(TRIGRAM_CUDA_FOUND FALSE)
set(TRIGRAM_GPU_FOUND FALSE)
set(TRIGRAM_NCCL_FOUND FALSE)
# The toolkit's folder is often not in PATH.
find_program(TRIGRAM_NVCC nvcc HINTS ENV CUDA_HOME ENV CUDA_PATH PATHS /usr/local/cuda
  PATH_SUFFIXES bin)
mark_as_advanced(TRIGRAM_NVCC)
if(TRIGRAM_CUDA)  # auto or on
  if(TRIGRAM_NVCC AND NOT CMAKE_CUDA_COMPILER)
    set(CMAKE_CUDA_COMPILER ${TRIGRAM_NVCC})
  endif()
  trigram_find_gpu(TRIGRAM_GPU_FOUND)
  if(NOT CMAKE_CUDA_ARCHITECTURES)
    if(TRIGRAM_GPU_FOUND)
      set(CMAKE_CUDA_ARCHITECTURES native)
    else()
      set(CMAKE_CUDA_ARCHITECTURES 80 90)
    endif()
  endif()
  include(CheckLanguage)
  check_language(CUDA)
  if(CMAKE_CUDA_COMPILER)
    enable_language(CUDA)
    # These are set only here: earlier, CMake 3.25 would request the standard before it knows the compiler's flags.
    set(CMAKE_CUDA_STANDARD 20)
    set(CMAKE_CUDA_STANDARD_REQUIRED ON)
    set(CMAKE_CUDA_EXTENSIONS OFF)
    # CMake before 3.26 does not know that nvcc supports C++20 from version 12.0 on.
    foreach(kind STANDARD EXTENSION)
      if(NOT CMAKE_CUDA20_${kind}_COMPILE_OPTION)
        set(CMAKE_CUDA20_${kind}_COMPILE_OPTION -std=c++20)
      endif()
    endforeach()
    # CMake 3.25 sets a property of this library, which CUDA 13 no longer has.
    if(NOT TARGET CUDA::nvToolsExt)
      add_library(CUDA::nvToolsExt INTERFACE IMPORTED)
    endif()
    find_package(CUDAToolkit 12)
    if(CUDAToolkit_FOUND AND TARGET CUDA::cublas)
      set(TRIGRAM_CUDA_FOUND TRUE)
    endif()
  endif()
  if(TRIGRAM_CUDA_FOUND)
    # The environment modules of clusters set these variables to NCCL's folder.
    set(nccl_folders ENV NCCL_HOME ENV NCCL_ROOT ENV NCCL_DIR)
    find_path(TRIGRAM_NCCL_INCLUDE nccl.h HINTS ${nccl_folders} ${CUDAToolkit_INCLUDE_DIRS}
      PATH_SUFFIXES include)
    find_library(TRIGRAM_NCCL_LIBRARY nccl
      HINTS ${nccl_folders} ${CUDAToolkit_LIBRARY_DIR} ${CUDAToolkit_LIBRARY_ROOT}
      PATH_SUFFIXES lib lib64)
    mark_as_advanced(TRIGRAM_NCCL_INCLUDE TRIGRAM_NCCL_LIBRARY)
    if(TRIGRAM_NCCL_INCLUDE AND TRIGRAM_NCCL_LIBRARY)
      set(TRIGRAM_NCCL_FOUND TRUE)
    endif()
  endif()
  if(NOT TRIGRAM_NCCL_FOUND AND TRIGRAM_CUDA STREQUAL "on")
    message(FATAL_ERROR "TRIGRAM_CUDA is on, but there is no CUDA toolkit 12 or newer with cuBLAS and NCCL: "
      "install it, or say where nvcc is by -DCMAKE_CUDA_COMPILER=..., and where NCCL is by the variable "
      "NCCL_HOME, or by -DTRIGRAM_NCCL_INCLUDE=... and -DTRIGRAM_NCCL_LIBRARY=...")
  endif()
endif()
