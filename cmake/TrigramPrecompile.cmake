# Headers of the standard library and of other libraries that most files need are parsed only once.
# Parsing them for every file takes a third of the time of a build. Our own headers are not among them,
# so that a change rebuilds only the files that include it.

option(TRIGRAM_PRECOMPILE "Precompile the headers of libraries" ON)

set(trigram_precompiled
  <algorithm> <array> <chrono> <cmath> <cstdint> <cstring> <filesystem> <functional> <limits> <map>
  <memory> <numeric> <optional> <set> <span> <stdexcept> <string> <utility> <vector>
  <fmt/format.h> <nlohmann/json.hpp>)

# trigram_precompiled_headers(NAME HEADERS... LIBS...): a library that has only these headers.
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

# trigram_precompile(TARGET FROM): TARGET's files begin with the headers of the library FROM.
function(trigram_precompile target from)
  if(TRIGRAM_PRECOMPILE)
    target_precompile_headers(${target} REUSE_FROM ${from})
  endif()
endfunction()

if(TRIGRAM_PRECOMPILE)
  trigram_precompiled_headers(trigram_headers HEADERS ${trigram_precompiled})
endif()
