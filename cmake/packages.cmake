# Debian packages, one for each component that something is installed into; scripts/package makes them.

set(CPACK_GENERATOR DEB)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_STRIP_FILES ON)
set(CPACK_PACKAGE_NAME rdmablk)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(RDMABLK_PACKAGE_CONTACT "rdmablk maintainers <rdmablk@localhost>" CACHE STRING
  "Name and address of whoever distributes the packages")
set(CPACK_PACKAGE_CONTACT "${RDMABLK_PACKAGE_CONTACT}")
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# A package may need the library of another one, which is not installed when they are made.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${CMAKE_LIBRARY_OUTPUT_DIRECTORY})
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY ">=")
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
  OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)

# rdmablk_package(NAME SUMMARY text DESCRIPTION text [SECTION section] [DEPENDS list] [RECOMMENDS list]
#                 [SUGGESTS list] [CONTROL file...])
#
# Describes the package of a component; it is made when something is installed into that. CONTROL are maintainer
# scripts and the like. Call it before cmake/packages.cmake ends.
function(rdmablk_package name)
  cmake_parse_arguments(PARSE_ARGV 1 package "" "SUMMARY;DESCRIPTION;SECTION;DEPENDS;RECOMMENDS;SUGGESTS"
    "CONTROL")
  if(NOT package_SECTION)
    set(package_SECTION admin)
  endif()
  string(TOUPPER ${name} key)
  set(prefix CPACK_DEBIAN_${key}_PACKAGE)
  set(${prefix}_NAME ${name} PARENT_SCOPE)
  set(${prefix}_SECTION ${package_SECTION} PARENT_SCOPE)
  set(${prefix}_DEPENDS "${package_DEPENDS}" PARENT_SCOPE)
  set(${prefix}_RECOMMENDS "${package_RECOMMENDS}" PARENT_SCOPE)
  set(${prefix}_SUGGESTS "${package_SUGGESTS}" PARENT_SCOPE)
  set(${prefix}_CONTROL_EXTRA "${package_CONTROL}" PARENT_SCOPE)
  set(CPACK_DEBIAN_${key}_DESCRIPTION "${package_SUMMARY}\n${package_DESCRIPTION}" PARENT_SCOPE)
  set(CPACK_COMPONENT_${key}_DESCRIPTION "${package_SUMMARY}\n${package_DESCRIPTION}" PARENT_SCOPE)
endfunction()

set(packaging ${PROJECT_SOURCE_DIR}/packaging)

rdmablk_package(rdmablk-target
  SUMMARY "lend memory and files to other machines over RDMA: the daemon"
  DESCRIPTION "The rdmablk target publishes memory, files and block devices of this machine
as named images. Other machines read and write them by RDMA; for an image in
memory the processor of this machine does nothing. It runs as a service of
systemd."
  DEPENDS "ibverbs-providers, systemd | systemd-standalone-sysusers"
  RECOMMENDS "rdma-core, rdmablk"
  SUGGESTS "rdmacm-utils"
  CONTROL ${packaging}/rdmablk-target/postinst ${packaging}/rdmablk-target/prerm
          ${packaging}/rdmablk-target/postrm ${packaging}/rdmablk-target/conffiles)

rdmablk_package(rdmablk
  SUMMARY "mount memory and files of other machines over RDMA"
  DESCRIPTION "The images that an rdmablk target on another machine publishes are mounted
here with FUSE, each as one file: for databases, virtual machines, or a file
system on a loop device. The command rdmablk lists, measures and mounts them."
  DEPENDS "ibverbs-providers, fuse3"
  RECOMMENDS "rdma-core"
  SUGGESTS "rdmacm-utils"
  CONTROL ${packaging}/rdmablk/postinst ${packaging}/rdmablk/prerm ${packaging}/rdmablk/postrm)

rdmablk_package(librdmablk1
  SUMMARY "use memory and files of other machines over RDMA: the library"
  DESCRIPTION "A C library with which programs read and write the images of an rdmablk
target themselves, without mounting them."
  SECTION libs
  DEPENDS "ibverbs-providers"
  CONTROL ${packaging}/librdmablk1/triggers ${PROJECT_BINARY_DIR}/packaging/librdmablk1/symbols)

rdmablk_package(librdmablk-dev
  SUMMARY "use memory and files of other machines over RDMA: for developers"
  DESCRIPTION "The header and what the linker, pkg-config and CMake need to build programs
that use librdmablk1."
  SECTION libdevel
  DEPENDS "librdmablk1 (= ${PROJECT_VERSION})")

# rdmablk_finish_packages(): when everything that is to be installed is known.
function(rdmablk_finish_packages)
  get_cmake_property(components COMPONENTS)
  set(made)
  foreach(name rdmablk-target rdmablk librdmablk1 librdmablk-dev)
    if(name IN_LIST components)
      list(APPEND made ${name})
      install(FILES ${packaging}/copyright DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${name} COMPONENT ${name})
      install(FILES ${PROJECT_BINARY_DIR}/packaging/changelog.gz
        DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${name} COMPONENT ${name})
      if(EXISTS ${packaging}/${name}/lintian-overrides)
        install(FILES ${packaging}/${name}/lintian-overrides RENAME ${name}
          DESTINATION ${CMAKE_INSTALL_DATADIR}/lintian/overrides COMPONENT ${name})
      endif()
    endif()
  endforeach()
  configure_file(${packaging}/changelog.in ${PROJECT_BINARY_DIR}/packaging/changelog @ONLY)
  execute_process(COMMAND gzip --best --no-name --force --keep ${PROJECT_BINARY_DIR}/packaging/changelog
    COMMAND_ERROR_IS_FATAL ANY)
  set(CPACK_COMPONENTS_ALL ${made})
  set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "") # or it would come before that of each package
  include(CPack)
endfunction()
