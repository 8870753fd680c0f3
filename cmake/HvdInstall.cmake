# What `cmake --install` puts where. The tree works wherever it is moved: hvdrun
# finds its keeper relative to itself, the CMake package and the pkg-config file
# find theirs relative to themselves, and libhvd needs no search path.
include(CMakePackageConfigHelpers)

set(HVD_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/hvd)
set(HVD_PKGCONFIG_DIR ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# A folder that this checkout does not build yet adds nothing.
if(TARGET hvdrun)
  install(TARGETS hvdrun RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
if(TARGET hvd-perf)
  # libhvd lies beside it, wherever the tree is.
  set_target_properties(hvd-perf PROPERTIES
    INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")
  install(TARGETS hvd-perf RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
if(TARGET hvdrun-keeper)
  # Not in bin: nobody types them.
  install(TARGETS hvdrun-keeper hvdrun-agent hvdrun_remote
          RUNTIME DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/hvdrun
          LIBRARY DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/hvdrun)
  install(FILES ${PROJECT_SOURCE_DIR}/launcher/ssh_config
          DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/hvdrun)
endif()

if(TARGET hvd)
  install(TARGETS hvd EXPORT hvdTargets
          LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/worker/include/hvd
                    ${PROJECT_SOURCE_DIR}/collectives/include/hvd
          DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
  install(EXPORT hvdTargets NAMESPACE hvd:: DESTINATION ${HVD_CMAKE_DIR})

  configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/hvdConfig.cmake.in
    ${PROJECT_BINARY_DIR}/package/hvdConfig.cmake
    INSTALL_DESTINATION ${HVD_CMAKE_DIR})
  write_basic_package_version_file(
    ${PROJECT_BINARY_DIR}/package/hvdConfigVersion.cmake
    COMPATIBILITY SameMinorVersion)  # before 1.0 a minor version may break
  install(FILES ${PROJECT_BINARY_DIR}/package/hvdConfig.cmake
                ${PROJECT_BINARY_DIR}/package/hvdConfigVersion.cmake
          DESTINATION ${HVD_CMAKE_DIR})

  file(RELATIVE_PATH HVD_PREFIX_FROM_PKGCONFIG
    ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
  string(REGEX REPLACE "/$" "" HVD_PREFIX_FROM_PKGCONFIG
    "${HVD_PREFIX_FROM_PKGCONFIG}")
  configure_file(${CMAKE_CURRENT_LIST_DIR}/hvd.pc.in
                 ${PROJECT_BINARY_DIR}/package/hvd.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/package/hvd.pc
          DESTINATION ${HVD_PKGCONFIG_DIR})
endif()

install(FILES ${PROJECT_SOURCE_DIR}/README.md
        DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/hvdrun)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs
        DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/hvdrun)
install(FILES ${PROJECT_SOURCE_DIR}/examples/hello.c
              ${PROJECT_SOURCE_DIR}/examples/ci-smoke.sh
        DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/hvdrun/examples)
