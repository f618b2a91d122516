# Where things are installed, and into which package: each component is one (cmake/packages.cmake).

# Debian's place for libraries whatever the prefix, as packages are made for another one than was configured.
if(NOT CMAKE_INSTALL_LIBDIR AND EXISTS /etc/debian_version AND CMAKE_LIBRARY_ARCHITECTURE)
  set(CMAKE_INSTALL_LIBDIR lib/${CMAKE_LIBRARY_ARCHITECTURE})
endif()
include(GNUInstallDirs)

# What systemd reads lies below lib of the prefix, whatever libraries do.
set(RDMABLK_UNIT_DIRECTORY lib/systemd/system)
set(RDMABLK_SYSUSERS_DIRECTORY lib/sysusers.d)
# Configuration is not below the prefix, as the units and the manual name it.
set(RDMABLK_CONFIGURATION_DIRECTORY /etc/rdmablk)

# rdmablk_install_unit(TEMPLATE COMPONENT component): installs a unit, whose name is the template's without
# `.in`. @BINDIR@ and @SBINDIR@ in it become the directories of the programs, which are known only now.
function(rdmablk_install_unit template)
  cmake_parse_arguments(PARSE_ARGV 1 unit "" "COMPONENT" "")
  cmake_path(ABSOLUTE_PATH template)
  cmake_path(GET template STEM LAST_ONLY name)
  install(CODE "
    set(BINDIR \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_BINDIR}\")
    set(SBINDIR \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_SBINDIR}\")
    configure_file(\"${template}\" \"${CMAKE_CURRENT_BINARY_DIR}/${name}\" @ONLY)"
    COMPONENT ${unit_COMPONENT})
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/${name} DESTINATION ${RDMABLK_UNIT_DIRECTORY}
    COMPONENT ${unit_COMPONENT})
endfunction()

# rdmablk_install_link(NAME TARGET DESTINATION directory COMPONENT component): installs a link of that name, which
# leads to TARGET from there.
function(rdmablk_install_link name target)
  cmake_parse_arguments(PARSE_ARGV 2 link "" "DESTINATION;COMPONENT" "")
  file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/links)
  file(CREATE_LINK ${target} ${PROJECT_BINARY_DIR}/links/${name} SYMBOLIC)
  install(FILES ${PROJECT_BINARY_DIR}/links/${name} DESTINATION ${link_DESTINATION} COMPONENT ${link_COMPONENT})
endfunction()
