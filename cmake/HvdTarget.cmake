# hvd_add_library(<folder> SOURCES <file>... [DEPS <target>...] [PRIVATE_DEPS <target>...])
# One static library per folder, with the house warnings. DEPS are those whose
# headers this folder's headers include.
function(hvd_add_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;DEPS;PRIVATE_DEPS")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "hvd_add_library(${name}): unknown ${arg_UNPARSED_ARGUMENTS}")
  endif()
  add_library(hvd_${name} STATIC ${arg_SOURCES})
  add_library(hvd::${name} ALIAS hvd_${name})
  target_include_directories(hvd_${name} PUBLIC ${PROJECT_SOURCE_DIR})
  target_link_libraries(hvd_${name} PUBLIC ${arg_DEPS}
                        PRIVATE $<BUILD_INTERFACE:hvd_warnings> ${arg_PRIVATE_DEPS})
endfunction()

# hvd_add_program(<name> SOURCES <file>... [DEPS <target>...])
function(hvd_add_program name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;DEPS")
  add_executable(${name} ${arg_SOURCES})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE hvd_warnings ${arg_DEPS})
endfunction()

# hvd_add_test(<name> KIND <unit|scenario|process|net|grpc|e2e|testbed|hosts|fuzz>
#              SOURCES <file>... [DEPS <target>...] [TIMEOUT <seconds>] [SERIAL])
# One Catch2 program; each TEST_CASE is a ctest test labelled with its kind.
# In those of kind grpc and hosts runs real gRPC, which no sanitizer has seen.
# SERIAL: its tests never run beside others (they look at the whole machine).
function(hvd_add_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "SERIAL" "KIND;TIMEOUT" "SOURCES;DEPS")
  if(NOT arg_KIND)
    message(FATAL_ERROR "hvd_add_test(${name}): KIND is missing")
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 60)
  endif()
  add_executable(${name} ${arg_SOURCES})
  set_target_properties(${name} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  target_link_libraries(${name} PRIVATE hvd_warnings hvd_test_support ${arg_DEPS})
  target_precompile_headers(${name} REUSE_FROM hvd_test_pch)
  # What is tested is optimised; the tests are read by the compiler sooner.
  target_compile_options(${name} PRIVATE $<$<CONFIG:Release>:-O0>)
  set(serial FALSE)
  if(arg_SERIAL)
    set(serial TRUE)
  endif()
  set(not_run)
  if(arg_KIND MATCHES "^(testbed|hosts)$")
    # What tests/testbed/bed.cc says where the machine can have no bed.
    set(not_run SKIP_REGULAR_EXPRESSION "this test was not run: ")
  endif()
  catch_discover_tests(${name} PROPERTIES LABELS ${arg_KIND} TIMEOUT ${arg_TIMEOUT}
                       RUN_SERIAL ${serial} ${not_run})
endfunction()
