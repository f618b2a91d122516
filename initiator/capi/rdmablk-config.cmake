# find_package(rdmablk): gives the library as rdmablk::rdmablk.
include(${CMAKE_CURRENT_LIST_DIR}/rdmablk-targets.cmake)
