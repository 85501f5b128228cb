# A program that links trigram::allocator allocates memory with mimalloc instead of the C library, which makes
# simulations faster (docs/adr/0023-an-allocator.md). The library does nothing if mimalloc is not installed, or under
# sanitizers, which bring their own allocators.
add_library(trigram_allocator INTERFACE)
add_library(trigram::allocator ALIAS trigram_allocator)
if(NOT TRIGRAM_SANITIZE)
  find_package(mimalloc QUIET CONFIG)
  if(TARGET mimalloc)
    # mimalloc comes before all other libraries, because the loader takes malloc from the first library that has it.
    target_link_options(trigram_allocator INTERFACE
      "LINKER:--push-state,--no-as-needed,$<TARGET_FILE:mimalloc>,--pop-state")
  else()
    message(STATUS "mimalloc was not found; simulations will be slower")
  endif()
endif()
