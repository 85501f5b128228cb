# Functions that add tests, for the CMake files below tests/.

set(trigram_test_sources ${PROJECT_SOURCE_DIR}/tests)

# trigram_test(NAME FILES... LIBS... [LABEL slow] [ENVIRONMENT NAME=VALUE...]): a GoogleTest
# executable and one CTest entry, which runs all of its tests in one process: starting a process for
# each of thousands of tests would take longer than most of the tests do.
function(trigram_test name)
  cmake_parse_arguments(ARG "" "LABEL" "FILES;LIBS;ENVIRONMENT" ${ARGN})
  # ThreadSanitizer checks what threads share: the conformance suite, in which every algorithm
  # trains, the world of threads, and the queue of runs.
  if(TRIGRAM_SANITIZE MATCHES thread AND
     NOT name MATCHES "^(conformance|threads|schedule|experiments)_")
    return()
  endif()
  trigram_test_program(${name} FILES ${ARG_FILES} LIBS ${ARG_LIBS})
  set(properties TIMEOUT 900)
  if(ARG_LABEL)
    list(APPEND properties LABELS ${ARG_LABEL})
  endif()
  if(ARG_ENVIRONMENT)
    list(APPEND properties ENVIRONMENT ${ARG_ENVIRONMENT})
  endif()
  add_test(NAME ${name} COMMAND ${name} --gtest_brief=1)
  set_tests_properties(${name} PROPERTIES ${properties})
endfunction()

# trigram_test_program(NAME FILES... LIBS...): a GoogleTest executable without a CTest entry.
function(trigram_test_program name)
  cmake_parse_arguments(ARG "" "" "FILES;LIBS" ${ARGN})
  add_executable(${name} ${ARG_FILES})
  target_link_libraries(${name} PRIVATE ${ARG_LIBS} GTest::gmock GTest::gtest_main)
  target_compile_options(${name} PRIVATE ${trigram_test_optimisation})
  set_target_properties(${name} PROPERTIES TRIGRAM_GPUS "${tested_gpus}")
  trigram_precompile(${name} trigram_test_headers)
  trigram_unity(${name} ${ARG_FILES})
endfunction()

# trigram_tests_read_data(FILES...): defines TRIGRAM_TEST_DATA and TRIGRAM_GOLDEN, the folders of
# data and of recorded traces, for these sources of the current folder and for no others. A compile
# command without a path of this checkout lets a compiler cache serve other checkouts, too.
function(trigram_tests_read_data)
  set_source_files_properties(${ARGN} PROPERTIES COMPILE_DEFINITIONS
    "TRIGRAM_TEST_DATA=\"${trigram_test_sources}/data\";TRIGRAM_GOLDEN=\"${trigram_test_sources}/golden\"")
endfunction()

# trigram_job_test(NAME WORLD mpi|nccl RANKS N TIMEOUT SECONDS PROGRAMS TARGET... [LABELS...]
# [ENVIRONMENT NAME=VALUE...]): a CTest entry that runs the programs one after the other, each as an
# MPI job of N ranks. It is skipped where there is no mpirun.
function(trigram_job_test name)
  cmake_parse_arguments(ARG "" "WORLD;RANKS;TIMEOUT" "PROGRAMS;LABELS;ENVIRONMENT" ${ARGN})
  list(TRANSFORM ARG_PROGRAMS REPLACE "(.+)" "$<TARGET_FILE:\\1>")
  add_test(NAME ${name}
    COMMAND ${trigram_test_sources}/mpi_suites.sh ${ARG_WORLD} ${ARG_RANKS} ${ARG_PROGRAMS})
  set_tests_properties(${name} PROPERTIES
    TIMEOUT ${ARG_TIMEOUT} PROCESSORS 2 SKIP_RETURN_CODE 77)
  if(ARG_LABELS)
    set_tests_properties(${name} PROPERTIES LABELS "${ARG_LABELS}")
  endif()
  if(ARG_ENVIRONMENT)
    set_tests_properties(${name} PROPERTIES ENVIRONMENT "${ARG_ENVIRONMENT}")
  endif()
endfunction()

# trigram_python_test(NAME SUITE [TIMEOUT SECONDS] [LABELS...] [ENVIRONMENT NAME=VALUE...]): runs the
# unittest module SUITE of the current folder with the distribution's Python. The suite finds the
# program and the sources by the variables TRIGRAM and SOURCE.
function(trigram_python_test name suite)
  cmake_parse_arguments(ARG "" "TIMEOUT" "LABELS;ENVIRONMENT" ${ARGN})
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 300)
  endif()
  list(PREPEND ARG_ENVIRONMENT TRIGRAM=$<TARGET_FILE:trigram> SOURCE=${PROJECT_SOURCE_DIR})
  add_test(NAME ${name} COMMAND ${TRIGRAM_PYTHON} -B -m unittest ${suite}
    WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR})
  set_tests_properties(${name} PROPERTIES TIMEOUT ${ARG_TIMEOUT} ENVIRONMENT "${ARG_ENVIRONMENT}")
  if(ARG_LABELS)
    set_tests_properties(${name} PROPERTIES LABELS "${ARG_LABELS}")
  endif()
endfunction()

# trigram_speed_test(NAME PROGRAM FILTER [LABELS...]): runs some tests of a program alone on the
# machine. They compare speeds as ratios, so sanitizers, which slow code unevenly, exclude them.
function(trigram_speed_test name program filter)
  add_test(NAME ${name} COMMAND ${program} --gtest_brief=1 "--gtest_filter=${filter}")
  set_tests_properties(${name} PROPERTIES TIMEOUT 900 LABELS "${ARGN}" RUN_SERIAL TRUE)
endfunction()
