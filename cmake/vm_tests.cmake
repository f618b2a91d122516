# Tests that run on the kernel's own RDMA drivers, inside a guest that scripts/vm starts.

# rdmablk_add_vm_test(NAME name COMMAND command [argument...]
#                     [KERNEL uml|qemu] [DEVICE rxe|siw] [HOSTS 1|2] [LINKS 1|2] [INIT script|systemd] [MEMORY size]
#                     [TIMEOUT seconds] [LABELS label...])
#
# Registers the test `name`: `command` (a target's name or a program) run by scripts/vm on a guest
# with soft-RoCE (rxe, the default) or soft-iWARP (siw); with HOSTS 2 there is another host beside it, with LINKS 2 a second device. KERNEL
# is the user-mode one (uml) when not given; INIT is what process 1 is, a script when not given; MEMORY is each
# host's, 4G when not given.
# TIMEOUT (120) is the guest's; ctest waits a little longer. LABELS is `vm` when not given.
#
# Without a kernel (RDMABLK_UML_KERNEL not set; for qemu: none fetched yet) the test counts as skipped, and so it does when the
# command exits with 77. A kernel that is named and does not work is a failure. Sanitized programs
# do not start inside the guest: a build with sanitizers has no such tests.
function(rdmablk_add_vm_test)
  cmake_parse_arguments(PARSE_ARGV 0 vm "" "NAME;KERNEL;DEVICE;HOSTS;LINKS;INIT;MEMORY;TIMEOUT" "COMMAND;LABELS")
  if(NOT vm_NAME OR NOT vm_COMMAND OR vm_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "rdmablk_add_vm_test takes NAME and COMMAND, not '${ARGN}'")
  endif()
  if(RDMABLK_SANITIZE)
    return()
  endif()
  set(processors 1)
  if(vm_HOSTS EQUAL 2 OR vm_KERNEL STREQUAL "qemu")
    set(processors 2)
  endif()
  if(NOT vm_KERNEL)
    set(vm_KERNEL uml)
  endif()
  if(NOT vm_DEVICE)
    set(vm_DEVICE rxe)
  endif()
  if(NOT vm_HOSTS)
    set(vm_HOSTS 1)
  endif()
  if(NOT vm_LINKS)
    set(vm_LINKS 1)
  endif()
  if(NOT vm_INIT)
    set(vm_INIT script)
  endif()
  if(NOT vm_MEMORY)
    set(vm_MEMORY 4G)
  endif()
  if(NOT vm_TIMEOUT)
    set(vm_TIMEOUT 120)
  endif()
  if(NOT vm_LABELS)
    set(vm_LABELS vm)
  endif()

  list(POP_FRONT vm_COMMAND program)
  if(TARGET ${program})
    set(program $<TARGET_FILE:${program}>)
  endif()
  add_test(NAME ${vm_NAME}
    COMMAND ${PROJECT_SOURCE_DIR}/tests/vm/run_or_skip --kernel ${vm_KERNEL} --device ${vm_DEVICE}
            --hosts ${vm_HOSTS} --links ${vm_LINKS} --init ${vm_INIT} --memory ${vm_MEMORY} --timeout ${vm_TIMEOUT} -- ${program} ${vm_COMMAND})
  math(EXPR ctest_timeout "${vm_TIMEOUT} + 30")
  set_tests_properties(${vm_NAME} PROPERTIES
    LABELS "${vm_LABELS}" TIMEOUT ${ctest_timeout} PROCESSORS ${processors} SKIP_RETURN_CODE 77)
endfunction()
