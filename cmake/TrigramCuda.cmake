# Sets TRIGRAM_CUDA_FOUND where the language CUDA and the targets CUDA::cudart and CUDA::cublas are
# there, TRIGRAM_NCCL_FOUND where NCCL is, too, and TRIGRAM_GPU_FOUND where a GPU is. TRIGRAM_CUDA says
# whether to look (auto), to insist (on) or not (off).
#
# CMAKE_CUDA_ARCHITECTURES, unless given: those of the GPUs that are here, else Ampere and Hopper.

# Whether a GPU is here: the driver's tool lists one.
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
if(TRIGRAM_CUDA)  # auto or on
  # The toolkit's folder is often not in PATH.
  find_program(TRIGRAM_NVCC nvcc HINTS ENV CUDA_HOME ENV CUDA_PATH PATHS /usr/local/cuda
    PATH_SUFFIXES bin)
  mark_as_advanced(TRIGRAM_NVCC)
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
    # Not before: CMake 3.25 would ask for it while it does not know the compiler's flags yet.
    set(CMAKE_CUDA_STANDARD 20)
    set(CMAKE_CUDA_STANDARD_REQUIRED ON)
    set(CMAKE_CUDA_EXTENSIONS OFF)
    # CMake before 3.26 knows of no C++20 with nvcc, which has it from 12.0.
    foreach(kind STANDARD EXTENSION)
      if(NOT CMAKE_CUDA20_${kind}_COMPILE_OPTION)
        set(CMAKE_CUDA20_${kind}_COMPILE_OPTION -std=c++20)
      endif()
    endforeach()
    find_package(CUDAToolkit 12)
    if(CUDAToolkit_FOUND AND TARGET CUDA::cublas)
      set(TRIGRAM_CUDA_FOUND TRUE)
    endif()
  endif()
  if(TRIGRAM_CUDA_FOUND)
    # By these names modules of clusters say where NCCL is.
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
