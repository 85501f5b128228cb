# Installs the program and its data. Also installs the headers, libraries and CMake package `trigram`, so that other
# projects can add algorithms (examples/out_of_tree).

include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

# The component `program` is all that a user needs; `development` is for projects that add algorithms.
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME program)
install(TARGETS trigram RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY configs DESTINATION ${CMAKE_INSTALL_DATADIR}/trigram)
install(DIRECTORY analysis/trigram_analysis
  DESTINATION ${CMAKE_INSTALL_DATADIR}/trigram/analysis
  PATTERN __pycache__ EXCLUDE)
# The published numbers that `trigram report --check` compares with.
install(DIRECTORY analysis/published DESTINATION ${CMAKE_INSTALL_DATADIR}/trigram/analysis)
install(FILES analysis/claims.json DESTINATION ${CMAKE_INSTALL_DATADIR}/trigram/analysis)
# The chart library of reports, if scripts/setup has installed it.
install(DIRECTORY analysis/node_modules/uplot
  DESTINATION ${CMAKE_INSTALL_DATADIR}/trigram/analysis/node_modules OPTIONAL
  FILES_MATCHING PATTERN LICENSE PATTERN "*.min.*")

# Manual pages, which the program writes, and completions of shells in the folders where they look.
set(man_pages ${PROJECT_BINARY_DIR}/man)
install(CODE "file(MAKE_DIRECTORY \"${man_pages}\")
  execute_process(COMMAND \"$<TARGET_FILE:trigram>\" --man-pages \"${man_pages}\" COMMAND_ERROR_IS_FATAL ANY)")
install(DIRECTORY ${man_pages}/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES scripts/completion/trigram.bash
  DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME trigram)
foreach(folder site-functions vendor-completions)  # the second is where Debian's Zsh looks below /usr
  install(FILES scripts/completion/_trigram DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/${folder})
endforeach()
install(FILES scripts/completion/trigram.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME copyright)

set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME development)
# An algorithm of another project may include the same headers as the project's algorithms; its program calls
# trigram_main.
install(DIRECTORY core algorithms DESTINATION ${TRIGRAM_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
install(FILES experiments/cli/trigram_main.h DESTINATION ${TRIGRAM_INCLUDEDIR}/experiments/cli)

set(package ${CMAKE_INSTALL_LIBDIR}/cmake/trigram)
get_property(libraries GLOBAL PROPERTY TRIGRAM_LIBRARIES)
install(TARGETS trigram_options ${libraries} EXPORT trigram
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT trigram NAMESPACE trigram:: FILE trigramTargets.cmake DESTINATION ${package})
configure_package_config_file(cmake/trigramConfig.cmake.in
  ${PROJECT_BINARY_DIR}/cmake/trigramConfig.cmake INSTALL_DESTINATION ${package})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/cmake/trigramConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES
    ${PROJECT_BINARY_DIR}/cmake/trigramConfig.cmake
    ${PROJECT_BINARY_DIR}/cmake/trigramConfigVersion.cmake
  DESTINATION ${package})
include(TrigramPackage)
