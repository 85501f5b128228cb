# Runs at build time: writes OUTPUT from TEMPLATE, with git's description of the checkout SOURCE. An unchanged OUTPUT is
# not written again.

set(TRIGRAM_GIT "unknown")
find_program(GIT git)
if(GIT)
  execute_process(COMMAND ${GIT} -C ${SOURCE} describe --always --tags --abbrev=12
    OUTPUT_VARIABLE described RESULT_VARIABLE failed ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(NOT failed)
    set(TRIGRAM_GIT "${described}")
    # Builds with different uncommitted changes get different versions.
    execute_process(COMMAND ${GIT} -C ${SOURCE} diff HEAD
      OUTPUT_VARIABLE difference ERROR_QUIET)
    if(difference)
      string(SHA256 hash "${difference}")
      string(SUBSTRING "${hash}" 0 8 hash)
      string(APPEND TRIGRAM_GIT "-dirty.${hash}")
    endif()
  endif()
endif()
configure_file(${TEMPLATE} ${OUTPUT} @ONLY)
