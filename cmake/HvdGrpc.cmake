# gRPC twice: shared for hvdrun's library, which is loaded when it is needed, and
# static for the agent, which must run where only glibc is.
find_package(OpenSSL REQUIRED)
find_package(Protobuf REQUIRED)  # CMake's own module; has protoc
find_program(HVD_GRPC_PLUGIN grpc_cpp_plugin REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(GRPCXX REQUIRED grpc++)
pkg_check_modules(PROTOBUF_LITE REQUIRED protobuf-lite)

add_library(hvd_grpc_shared INTERFACE)
target_link_libraries(hvd_grpc_shared INTERFACE
  ${GRPCXX_LINK_LIBRARIES} ${PROTOBUF_LITE_LINK_LIBRARIES} OpenSSL::SSL)

# The archives of all that pkg-config names; what glibc has stays shared.
set(hvd_grpc_archives)
foreach(library ${GRPCXX_STATIC_LIBRARIES} ${PROTOBUF_LITE_STATIC_LIBRARIES})
  if(library MATCHES "^(pthread|dl|m|rt)$" OR library IN_LIST hvd_grpc_seen)
    continue()
  endif()
  list(APPEND hvd_grpc_seen ${library})
  find_library(HVD_ARCHIVE_${library} lib${library}.a)
  if(HVD_ARCHIVE_${library})
    list(APPEND hvd_grpc_archives ${HVD_ARCHIVE_${library}})
  else()
    # GCC's own, e.g. atomic: beside the compiler's other archives.
    list(APPEND hvd_grpc_archives -l${library})
  endif()
endforeach()
add_library(hvd_grpc_static INTERFACE)
target_link_libraries(hvd_grpc_static INTERFACE
  -Wl,--start-group ${hvd_grpc_archives} -Wl,--end-group
  Threads::Threads ${CMAKE_DL_LIBS} m)

# hvd_add_proto(<target> <file.proto>): messages and services as a library.
# Generated code gets none of the house's warnings.
function(hvd_add_proto target proto)
  set(generated ${PROJECT_BINARY_DIR}/generated)
  get_filename_component(folder ${proto} DIRECTORY)
  get_filename_component(name ${proto} NAME_WE)
  set(stem ${generated}/${folder}/${name})
  add_custom_command(
    OUTPUT ${stem}.pb.cc ${stem}.pb.h ${stem}.grpc.pb.cc ${stem}.grpc.pb.h
    COMMAND ${CMAKE_COMMAND} -E make_directory ${generated}
    COMMAND protobuf::protoc -I ${PROJECT_SOURCE_DIR}
            --cpp_out=${generated} --grpc_out=${generated}
            --plugin=protoc-gen-grpc=${HVD_GRPC_PLUGIN} ${proto}
    DEPENDS ${PROJECT_SOURCE_DIR}/${proto}
    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} VERBATIM)
  add_library(${target} STATIC ${stem}.pb.cc ${stem}.grpc.pb.cc)
  target_include_directories(${target} SYSTEM PUBLIC ${generated})
  target_compile_options(${target} PRIVATE -w)
endfunction()
