# Precompiles the headers of the standard library and of other libraries that most files need. Parsing them for every
# file takes a third of the time of a build. The project's headers are not precompiled, so a changed header rebuilds
# only the files that include it.

option(TRIGRAM_PRECOMPILE "Precompile the headers of libraries" ON)
option(TRIGRAM_UNITY "Compile the sources of a target together, which more than halves the time of a first build" ON)

set(trigram_precompiled
  <algorithm> <array> <chrono> <cmath> <cstdint> <cstring> <filesystem> <functional> <limits> <map>
  <memory> <numeric> <optional> <set> <span> <stdexcept> <string> <utility> <vector>
  <fmt/format.h> <nlohmann/json.hpp>)

# trigram_precompiled_headers(NAME HEADERS... LIBS...): adds a library that consists of these precompiled headers.
function(trigram_precompiled_headers name)
  cmake_parse_arguments(ARG "" "" "HEADERS;LIBS" ${ARGN})
  set(source ${CMAKE_CURRENT_BINARY_DIR}/${name}.cpp)
  if(NOT EXISTS ${source})
    file(WRITE ${source} "")
  endif()
  add_library(${name} STATIC ${source})
  target_link_libraries(${name} PRIVATE trigram_options fmt::fmt nlohmann_json::nlohmann_json ${ARG_LIBS})
  target_precompile_headers(${name} PRIVATE ${ARG_HEADERS})
endfunction()

# trigram_precompile(TARGET FROM [HEADERS...]): TARGET uses the precompiled headers of the library FROM. If HEADERS are
# given, it instead precompiles trigram_precompiled and these headers, which most of its files must include.
function(trigram_precompile target from)
  if(TRIGRAM_PRECOMPILE AND ARGN)
    target_precompile_headers(${target} PRIVATE ${trigram_precompiled} ${ARGN})
  elseif(TRIGRAM_PRECOMPILE)
    target_precompile_headers(${target} REUSE_FROM ${from})
  endif()
endfunction()

# trigram_unity(TARGET): compiles the sources of a target together, at most 48 at a time: most of the time of a
# translation unit goes to inline functions of libraries, which it compiles once. Sources with separate options, or with
# the property SKIP_UNITY_BUILD_INCLUSION, are compiled alone.
function(trigram_unity target)
  if(TRIGRAM_UNITY)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 48)
  endif()
endfunction()

if(TRIGRAM_PRECOMPILE)
  trigram_precompiled_headers(trigram_headers HEADERS ${trigram_precompiled})
endif()
