# Functions that add tests, for the CMake files below tests/.

set(trigram_test_sources ${PROJECT_SOURCE_DIR}/tests)

# `make test` builds and runs a part of the tests, which takes minutes on two cores. All other tests have the label
# `thorough` or `slow`; programs that only they need are built by the target `thorough_tests`.
add_custom_target(thorough_tests)

# The programs of all tests but the slow ones; `make asan` and `make tsan` build only them.
add_custom_target(test_programs)

# trigram_thorough_targets(TARGETS...): only `thorough_tests` builds them.
function(trigram_thorough_targets)
  set_target_properties(${ARGN} PROPERTIES EXCLUDE_FROM_ALL TRUE)
  add_dependencies(thorough_tests ${ARGN})
endfunction()

# trigram_test(NAME [THOROUGH|SLOW] FILES... LIBS... [LABELS...] [COST seconds] [SLOW_PART pattern]
# [ENVIRONMENT NAME=VALUE...]): adds a GoogleTest executable and one CTest entry, which runs all of its tests in one
# process, because starting a process for each of thousands of tests would take longer than most of the tests. Tests
# whose names match SLOW_PART run in a second entry, NAME_slow, which is labelled slow. Each file has a separate
# namespace, so the files of a program can be compiled together. COST is a rough duration; CTest starts long tests
# first.
function(trigram_test name)
  cmake_parse_arguments(ARG "THOROUGH;SLOW" "COST;SLOW_PART" "FILES;LIBS;LABELS;ENVIRONMENT" ${ARGN})
  # ThreadSanitizer checks what threads share: the conformance suite, in which every algorithm
  # trains, and the world of threads.
  if(TRIGRAM_SANITIZE MATCHES thread AND NOT name MATCHES "^(conformance|threads|host|membership)_")
    return()
  endif()
  trigram_test_program(${name} FILES ${ARG_FILES} LIBS ${ARG_LIBS})
  if(NOT ARG_SLOW)
    add_dependencies(test_programs ${name})
  endif()
  set(filter "*")
  if(ARG_SLOW_PART)
    set(filter "-${ARG_SLOW_PART}")
    add_test(NAME ${name}_slow COMMAND ${name} --gtest_brief=1 "--gtest_filter=${ARG_SLOW_PART}")
    trigram_test_properties(${name}_slow TIMEOUT 900 LABELS slow ENVIRONMENT ${ARG_ENVIRONMENT})
  endif()
  add_test(NAME ${name} COMMAND ${name} --gtest_brief=1 "--gtest_filter=${filter}")
  if(ARG_THOROUGH OR ARG_SLOW)
    trigram_thorough_targets(${name})
    list(APPEND ARG_LABELS $<IF:$<BOOL:${ARG_SLOW}>,slow,thorough>)
  endif()
  trigram_test_properties(${name} TIMEOUT 900 COST "${ARG_COST}" LABELS ${ARG_LABELS}
    ENVIRONMENT ${ARG_ENVIRONMENT})
endfunction()

# trigram_test_properties(NAME [TIMEOUT seconds] [COST seconds] [LABELS...] [ENVIRONMENT NAME=VALUE...]): sets the given
# properties of a test.
function(trigram_test_properties name)
  cmake_parse_arguments(ARG "" "TIMEOUT;COST" "LABELS;ENVIRONMENT" ${ARGN})
  foreach(property TIMEOUT COST LABELS ENVIRONMENT)
    if(ARG_${property})
      set_tests_properties(${name} PROPERTIES ${property} "${ARG_${property}}")
    endif()
  endforeach()
endfunction()

# trigram_test_program(NAME FILES... LIBS...): adds a GoogleTest executable without a CTest entry.
function(trigram_test_program name)
  cmake_parse_arguments(ARG "" "" "FILES;LIBS" ${ARGN})
  add_executable(${name} ${ARG_FILES})
  target_link_libraries(${name} PRIVATE ${ARG_LIBS} GTest::gmock GTest::gtest_main)
  trigram_checks_as_calls(${name})
  trigram_precompile(${name} trigram_test_headers)
  trigram_unity(${name})
endfunction()

# trigram_test_library(NAME FILES...): adds a static library that tests share.
function(trigram_test_library name)
  add_library(${name} STATIC ${ARGN})
  trigram_precompile(${name} trigram_headers)
  trigram_unity(${name})
endfunction()

# trigram_on_emulated_gpus(PROGRAM): adds the program PROGRAM_on_emulated_gpus, which has the same objects as PROGRAM.
function(trigram_on_emulated_gpus program)
  set(name ${program}_on_emulated_gpus)
  get_target_property(libraries ${program} LINK_LIBRARIES)
  add_executable(${name} $<TARGET_OBJECTS:${program}>)
  target_link_libraries(${name} PRIVATE ${libraries})
  set_target_properties(${name} PROPERTIES TRIGRAM_GPUS emulated LINKER_LANGUAGE CXX)
  trigram_thorough_targets(${name})
endfunction()

# trigram_tests_read_data(FILES...): defines TRIGRAM_TEST_DATA and TRIGRAM_GOLDEN, the folders of data and of recorded
# traces, only for these sources of the current folder. All other sources are compiled without a path of this checkout,
# so a compiler cache can serve other checkouts, too.
function(trigram_tests_read_data)
  set_source_files_properties(${ARGN} PROPERTIES COMPILE_DEFINITIONS
    "TRIGRAM_TEST_DATA=\"${trigram_test_sources}/data\";TRIGRAM_GOLDEN=\"${trigram_test_sources}/golden\"")
endfunction()

# trigram_job_test(NAME WORLD mpi|nccl RANKS N TIMEOUT SECONDS PROGRAMS TARGET... [COST seconds] [LABELS...]
# [ENVIRONMENT NAME=VALUE...]): adds a CTest entry that runs the programs one after the other, each as an MPI job of N
# ranks. The test is skipped if there is no mpirun.
function(trigram_job_test name)
  cmake_parse_arguments(ARG "" "WORLD;RANKS;TIMEOUT;COST" "PROGRAMS;LABELS;ENVIRONMENT" ${ARGN})
  list(TRANSFORM ARG_PROGRAMS REPLACE "(.+)" "$<TARGET_FILE:\\1>")
  add_test(NAME ${name}
    COMMAND ${trigram_test_sources}/mpi_suites.sh ${ARG_WORLD} ${ARG_RANKS} ${ARG_PROGRAMS})
  set_tests_properties(${name} PROPERTIES SKIP_RETURN_CODE 77)
  trigram_test_properties(${name} TIMEOUT ${ARG_TIMEOUT} COST "${ARG_COST}" LABELS ${ARG_LABELS}
    ENVIRONMENT ${ARG_ENVIRONMENT})
endfunction()

# trigram_python_test(NAME SUITE... [TIMEOUT SECONDS] [COST seconds] [LABELS...] [ENVIRONMENT NAME=VALUE...]): runs
# unittest modules of the current folder, or single tests of them, with the distribution's Python. The environment
# variables TRIGRAM and SOURCE give them the program and the root of the project.
function(trigram_python_test name)
  cmake_parse_arguments(ARG "" "TIMEOUT;COST" "LABELS;ENVIRONMENT" ${ARGN})
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 300)
  endif()
  add_test(NAME ${name} COMMAND ${TRIGRAM_PYTHON} -B -m unittest ${ARG_UNPARSED_ARGUMENTS}
    WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR})
  trigram_test_properties(${name} TIMEOUT ${ARG_TIMEOUT} COST "${ARG_COST}" LABELS ${ARG_LABELS}
    ENVIRONMENT TRIGRAM=$<TARGET_FILE:trigram> SOURCE=${PROJECT_SOURCE_DIR} ${ARG_ENVIRONMENT})
endfunction()

# trigram_speed_test(NAME PROGRAM FILTER [LABELS...]): runs the tests of a program that match FILTER while no other test
# runs. They compare speeds as ratios, so they are not built with sanitizers, which slow code unevenly.
function(trigram_speed_test name program filter)
  add_test(NAME ${name} COMMAND ${program} --gtest_brief=1 "--gtest_filter=${filter}")
  set_tests_properties(${name} PROPERTIES TIMEOUT 900 LABELS "${ARGN}" RUN_SERIAL TRUE)
endfunction()
