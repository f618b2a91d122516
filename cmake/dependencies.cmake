# Libraries of the system, each as an imported target. `scripts/install-dependencies` installs them.

find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
find_package(OpenSSL REQUIRED COMPONENTS Crypto)
find_package(spdlog REQUIRED)
find_package(CLI11 REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(prometheus-cpp REQUIRED)
find_package(civetweb REQUIRED)
find_package(Boost 1.74 REQUIRED)

pkg_check_modules(ibverbs REQUIRED IMPORTED_TARGET libibverbs)
pkg_check_modules(rdmacm REQUIRED IMPORTED_TARGET librdmacm)
pkg_check_modules(uring REQUIRED IMPORTED_TARGET liburing)
pkg_check_modules(numa REQUIRED IMPORTED_TARGET numa)
pkg_check_modules(systemd REQUIRED IMPORTED_TARGET libsystemd)
pkg_check_modules(tomlplusplus REQUIRED IMPORTED_TARGET tomlplusplus)
pkg_check_modules(fuse3 REQUIRED IMPORTED_TARGET fuse3)

# Header-only; Debian ships no CMake or pkg-config file for it.
find_path(ASIO_INCLUDE_DIR asio.hpp REQUIRED)
add_library(asio INTERFACE)
target_include_directories(asio SYSTEM INTERFACE ${ASIO_INCLUDE_DIR})
target_compile_definitions(asio INTERFACE ASIO_NO_DEPRECATED)
target_link_libraries(asio INTERFACE Threads::Threads)

if(RDMABLK_TESTS)
  find_package(GTest REQUIRED)
endif()
