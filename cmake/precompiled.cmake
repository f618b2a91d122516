# Headers that are compiled once, where a build has to be quick: most of what a source takes to
# compile are those of libraries. Everyday builds go without, so that a source that lacks an
# include is noticed.

# Of libraries: what they include most.
function(rdmablk_precompile_headers)
  target_precompile_headers(rdmablk_common PRIVATE
    <algorithm> <array> <asio/io_context.hpp> <asio/post.hpp> <atomic> <chrono> <filesystem>
    <fmt/format.h> <functional> <infiniband/verbs.h> <map> <memory> <mutex> <optional> <span>
    <spdlog/spdlog.h> <string> <thread> <vector>)
  foreach(library IN LISTS ARGN)
    target_precompile_headers(${library} REUSE_FROM rdmablk_common)
  endforeach()
endfunction()

# Of the library behind the command `rdmablk`: those that take longest there.
function(rdmablk_precompile_command_headers library)
  target_precompile_headers(${library} PRIVATE
    <CLI/CLI.hpp> <chrono> <fmt/format.h> <memory> <nlohmann/json.hpp> <optional> <string> <vector>)
endfunction()

# Of test programs, as far as there are any of the name: what most of them include, and GoogleTest.
# The first one's headers serve all.
function(rdmablk_precompile_test_headers)
  set(first)
  foreach(program IN LISTS ARGN)
    if(NOT TARGET ${program})
      continue()
    elseif(first)
      target_precompile_headers(${program} REUSE_FROM ${first})
      continue()
    endif()
    set(first ${program})
    target_precompile_headers(${program} PRIVATE
      <algorithm> <array> <asio/io_context.hpp> <chrono> <filesystem> <fmt/format.h> <functional>
      <gmock/gmock.h> <gtest/gtest.h> <memory> <optional> <spdlog/spdlog.h> <string> <thread>
      <vector>)
  endforeach()
endfunction()

# Compiles several sources of a library as one, where each takes long for the headers alone. Names
# in anonymous namespaces have to differ within the library then.
function(rdmablk_compile_together)
  set_target_properties(${ARGN} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 8)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang") # it warns of members, too, that have the name of another source's
    set_target_properties(${ARGN} PROPERTIES
      UNITY_BUILD_CODE_BEFORE_INCLUDE "#pragma clang diagnostic ignored \"-Wshadow\"")
  endif()
endfunction()
