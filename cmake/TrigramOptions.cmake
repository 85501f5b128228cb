# Flags that every target of the project shares, and functions for the libraries of folders.

# TRIGRAM_WERROR=OFF is for builds by users: a warning of a compiler that nobody has tried must not stop them.
set(trigram_werror $<$<BOOL:${TRIGRAM_WERROR}>:-Werror>)
set(trigram_cuda_options --expt-relaxed-constexpr -fmad=false
  $<$<BOOL:${TRIGRAM_WERROR}>:-Werror=all-warnings> -Xcompiler=-Wall)

add_library(trigram_options INTERFACE)
set_target_properties(trigram_options PROPERTIES EXPORT_NAME options)
target_compile_features(trigram_options INTERFACE cxx_std_20)
target_compile_options(trigram_options INTERFACE
  # Projects that link an installed Trigram do not get our warnings.
  "$<BUILD_INTERFACE:$<$<COMPILE_LANGUAGE:CXX>:-Wall;-Wextra;-Wpedantic;-Wshadow;${trigram_werror}>>"
  # GCC 13 and newer mistake a reference into a registry for a reference into the name that was looked up.
  "$<BUILD_INTERFACE:$<$<AND:$<COMPILE_LANG_AND_ID:CXX,GNU>,$<VERSION_GREATER_EQUAL:$<CXX_COMPILER_VERSION>,13>>:-Wno-dangling-reference>>"
  # No implicit fused multiply-add, so that weights are equal in every world and on every machine.
  $<$<COMPILE_LANGUAGE:CXX>:-ffp-contract=off>
  # At -O3, GCC 12 wrongly warns of an overlap inside std::string's own operator+ (GCC bug 105651) and,
  # if headers are precompiled, of accesses beyond its end.
  "$<BUILD_INTERFACE:$<$<AND:$<CONFIG:Release>,$<COMPILE_LANGUAGE:CXX>>:-Wno-restrict;-Wno-array-bounds;-Wno-stringop-overflow>>")
target_compile_definitions(trigram_options INTERFACE
  EIGEN_DONT_PARALLELIZE EIGEN_STACK_ALLOCATION_LIMIT=0)
include(GNUInstallDirs)
set(TRIGRAM_INCLUDEDIR ${CMAKE_INSTALL_INCLUDEDIR}/trigram)
target_include_directories(trigram_options INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}> $<INSTALL_INTERFACE:${TRIGRAM_INCLUDEDIR}>)
if(TRIGRAM_SANITIZE)
  # -O1, because optimising the checks would take most of the time of a sanitizer build.
  target_compile_options(trigram_options INTERFACE
    "$<$<COMPILE_LANGUAGE:CXX>:-O1;-fsanitize=${TRIGRAM_SANITIZE};-fno-omit-frame-pointer;-fno-sanitize-recover=all>")
  if(TRIGRAM_SANITIZE MATCHES undefined)
    # These checks guard every access through a pointer, and compiling them takes three times as long. AddressSanitizer
    # finds the same errors when they happen, except misaligned reads of packed bytes, which only core contains.
    set(is_core "$<BOOL:$<TARGET_PROPERTY:TRIGRAM_CHECKS_ALIGNMENT>>")
    target_compile_options(trigram_options INTERFACE
      "$<$<COMPILE_LANGUAGE:CXX>:-fno-sanitize=null,object-size,pointer-overflow,vptr>"
      "$<$<AND:$<COMPILE_LANGUAGE:CXX>,$<NOT:${is_core}>>:-fno-sanitize=alignment>")
  endif()
  if(TRIGRAM_SANITIZE MATCHES thread)
    # One instruction set suffices: the code for the others shares no more, and takes long to compile.
    target_compile_definitions(trigram_options INTERFACE HWY_COMPILE_ONLY_STATIC)
  endif()
  target_link_options(trigram_options INTERFACE -fsanitize=${TRIGRAM_SANITIZE})
endif()

# trigram_checks_as_calls(TARGET): AddressSanitizer checks the accesses of TARGET by calls, not by inline code. That
# compiles in two thirds of the time and runs several times slower, so it is not for loops over elements.
function(trigram_checks_as_calls target)
  if(TRIGRAM_SANITIZE MATCHES address AND CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    target_compile_options(${target} PRIVATE --param=asan-instrumentation-with-call-threshold=0)
  endif()
endfunction()

# trigram_library(NAME [LIGHTLY_OPTIMISED] SOURCES... LIBS... [PRECOMPILED HEADERS...]): the static library
# trigram::NAME, which is installed. LIGHTLY_OPTIMISED is for code that runs once per bucket or step, not per
# element: a release build compiles it at -O1, which takes two thirds of the time of -O3.
function(trigram_library name)
  cmake_parse_arguments(ARG "LIGHTLY_OPTIMISED" "" "SOURCES;LIBS;PRIVATE_LIBS;PRECOMPILED" ${ARGN})
  add_library(trigram_${name} STATIC ${ARG_SOURCES})
  add_library(trigram::${name} ALIAS trigram_${name})
  set_target_properties(trigram_${name} PROPERTIES EXPORT_NAME ${name})
  set_property(GLOBAL APPEND PROPERTY TRIGRAM_LIBRARIES trigram_${name})
  target_link_libraries(trigram_${name} PUBLIC trigram_options ${ARG_LIBS} PRIVATE ${ARG_PRIVATE_LIBS})
  if(ARG_LIGHTLY_OPTIMISED)
    target_compile_options(trigram_${name} PRIVATE $<$<CONFIG:Release>:-O1>)
    trigram_checks_as_calls(trigram_${name})
    list(APPEND ARG_PRECOMPILED <string>)  # precompiled headers serve only files with the same options
  endif()
  trigram_precompile(trigram_${name} trigram_headers ${ARG_PRECOMPILED})
  trigram_unity(trigram_${name})
endfunction()

# trigram_vectorised(SOURCES...): lets the compiler vectorise the loops of these sources; it may ignore errno of square
# roots. The files do not use the precompiled headers, which were compiled with other flags.
function(trigram_vectorised)
  set_source_files_properties(${ARGN} PROPERTIES
    COMPILE_OPTIONS "-O3;-fno-math-errno;-fno-trapping-math" SKIP_PRECOMPILE_HEADERS ON)
endfunction()
