# `cpack -G DEB` in the build folder makes a Debian package of the program, without headers and libraries.

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME trigram)
set(CPACK_PACKAGE_CONTACT "Trigram authors")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "testbed for data-parallel training with relaxed communication")
set(CPACK_INSTALL_CMAKE_PROJECTS "${PROJECT_BINARY_DIR};trigram;program;/")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
# dpkg-shlibdeps finds the packages of shared libraries; these are the others.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_DEPENDS python3)
# Matplotlib needs python3-munkres or SciPy, which would bring a compiler.
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS
  "python3-pandas, python3-munkres, python3-matplotlib, dataset-fashion-mnist")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "openmpi-bin, iproute2, bible-kjv, bible-kjv-text, chromium")
if(TRIGRAM_CUDA_FOUND)
  message(STATUS "A Debian package of this build needs the libraries of CUDA and NCCL, which are not among the packages "
    "that it depends on; with -DTRIGRAM_CUDA=off it needs none")
endif()
include(CPack)
