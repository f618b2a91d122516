# What every target is compiled with. A target links `rdmablk_options` to get it.

option(RDMABLK_TESTS "Build the tests" ON)
option(RDMABLK_PRECOMPILE "Compile the headers of libraries once: builds are quicker, and missing includes go unnoticed" OFF)
set(RDMABLK_SANITIZE "" CACHE STRING
    "Sanitizers to build with: address, thread, or fuzzer (Clang's, with address); empty for none")
set_property(CACHE RDMABLK_SANITIZE PROPERTY STRINGS "" address thread fuzzer)

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "Build type" FORCE)
endif()

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)

add_library(rdmablk_options INTERFACE)
target_compile_options(rdmablk_options INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wnon-virtual-dtor -Wold-style-cast
  -Woverloaded-virtual -Wcast-align -Wformat=2 -Wimplicit-fallthrough -Werror)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # What the optimizer thinks about bounds is wrong now and then, on std::string in GCC 12 above all
  # (its bugs 105329 and 105651), and changes with what is inlined: worth reading, not worth an end.
  target_compile_options(rdmablk_options INTERFACE
    -Wno-error=array-bounds -Wno-error=restrict -Wno-error=stringop-overflow
    -Wno-error=stringop-overread -Wno-error=maybe-uninitialized)
endif()
target_compile_definitions(rdmablk_options INTERFACE RDMABLK_VERSION="${PROJECT_VERSION}")
target_include_directories(rdmablk_options INTERFACE ${PROJECT_SOURCE_DIR})

# Probes for bpftrace and its like: common/probes.h.
include(CheckIncludeFileCXX)
check_include_file_cxx(sys/sdt.h RDMABLK_HAVE_SDT)
if(NOT RDMABLK_HAVE_SDT)
  message(STATUS "There is no <sys/sdt.h> (systemtap-sdt-dev): built without probes for bpftrace")
endif()

if(RDMABLK_SANITIZE STREQUAL "address")
  set(rdmablk_sanitize_flags -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer)
elseif(RDMABLK_SANITIZE STREQUAL "thread")
  # GCC's -Wtsan warns of atomic_thread_fence, which the headers of libraries use.
  set(rdmablk_sanitize_flags -fsanitize=thread -fno-omit-frame-pointer -Wno-tsan)
elseif(RDMABLK_SANITIZE STREQUAL "fuzzer")
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    message(FATAL_ERROR "fuzzing takes Clang (-DCMAKE_CXX_COMPILER=clang++), not ${CMAKE_CXX_COMPILER}")
  endif()
  set(rdmablk_sanitize_flags -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all
      -fno-omit-frame-pointer)
elseif(RDMABLK_SANITIZE)
  message(FATAL_ERROR "RDMABLK_SANITIZE is '${RDMABLK_SANITIZE}'; it takes address, thread, fuzzer or nothing")
endif()
if(RDMABLK_SANITIZE)
  target_compile_options(rdmablk_options INTERFACE ${rdmablk_sanitize_flags})
  target_link_options(rdmablk_options INTERFACE ${rdmablk_sanitize_flags})
endif()
