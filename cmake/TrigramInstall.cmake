# Installs the program and its data. Also installs the headers, libraries and CMake package `trigram`, so that other
# projects can add algorithms (examples/out_of_tree).

include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

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
