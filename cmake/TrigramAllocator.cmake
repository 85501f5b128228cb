# trigram::allocator: what programs link that simulate, to allocate with mimalloc in place of the C
# library (docs/adr/0023-an-allocator.md). It does nothing where mimalloc is not installed, nor under
# sanitizers, which bring allocators of their own.
add_library(trigram_allocator INTERFACE)
add_library(trigram::allocator ALIAS trigram_allocator)
if(NOT TRIGRAM_SANITIZE)
  find_package(mimalloc QUIET CONFIG)
  if(mimalloc_FOUND)
    # Ahead of all other libraries: the loader takes malloc from the first that has it.
    target_link_options(trigram_allocator INTERFACE
      "LINKER:--push-state,--no-as-needed,$<TARGET_FILE:mimalloc>,--pop-state")
  else()
    message(STATUS "mimalloc was not found; simulations will be slower")
  endif()
endif()
