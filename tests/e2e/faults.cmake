# Tests of what happens to file exports when processes are killed, the power is cut, and disks fail.

# rdmablk_add_fault_test(NAME SCRIPT script [ARGUMENTS argument...] [ENVIRONMENT NAME=VALUE...]
#                        [DEVICES soft|rxe|siw...] [LABELS label] [TIMEOUT seconds] [WAYS rdmacm|tcp...])
#
# Runs SCRIPT.sh on each of the devices, the software device when none is named. The label is quick on
# the software device and vm on the others, or LABELS on all.
function(rdmablk_add_fault_test name)
  cmake_parse_arguments(PARSE_ARGV 1 test "" "SCRIPT;LABELS;TIMEOUT" "ARGUMENTS;ENVIRONMENT;DEVICES;WAYS")
  if(NOT test_DEVICES)
    set(test_DEVICES soft)
  endif()
  rdmablk_test_timeout(test_TIMEOUT)
  set(command env ${test_ENVIRONMENT} ${CMAKE_CURRENT_SOURCE_DIR}/${test_SCRIPT}.sh ${test_ARGUMENTS})
  foreach(device ${test_DEVICES})
    set(labels ${test_LABELS})
    if(device STREQUAL soft)
      if(NOT labels)
        string(REGEX MATCH "buffered" backing "${test_ENVIRONMENT}")
        rdmablk_soft_label(labels "${backing}")
      endif()
      rdmablk_add_soft_test(${name} LABEL ${labels} TIMEOUT ${test_TIMEOUT} COMMAND ${command}
        WAYS ${test_WAYS})
    else()
      rdmablk_add_kernel_test(${name} DEVICE ${device} LABELS ${labels} COMMAND ${command} TIMEOUT ${test_TIMEOUT})
    endif()
  endforeach()
endfunction()

foreach(backing direct buffered resident)
  set(with_backing DEVICES soft rxe ENVIRONMENT RDMABLK_TEST_BACKING=${backing})

  rdmablk_add_fault_test(remote_crash/${backing} SCRIPT remote_crash TIMEOUT 300 ${with_backing})
  rdmablk_add_fault_test(remote_crash_often/${backing} SCRIPT remote_crash LABELS long TIMEOUT 3000
    ENVIRONMENT RDMABLK_TEST_BACKING=${backing} ROUNDS=50)

  # A resident export reads and writes memory, which does not fail.
  set(cases failed_fsync innocent bad_ranges full_file_system)
  if(backing STREQUAL "resident")
    set(cases failed_fsync innocent left_behind full_resident)
  else()
    rdmablk_add_fault_test(vm_dm_faults/${backing} SCRIPT vm_dm_faults DEVICES rxe
      ENVIRONMENT RDMABLK_TEST_BACKING=${backing})
  endif()
  if(backing STREQUAL "buffered") # the disk has short writes for no others
    list(APPEND cases short)
  endif()
  foreach(case ${cases})
    rdmablk_add_fault_test(remote_faults/${case}/${backing} SCRIPT remote_faults ARGUMENTS ${case}
      ${with_backing})
  endforeach()

  rdmablk_add_fault_test(vm_log_writes/${backing} SCRIPT vm_log_writes DEVICES rxe
    ENVIRONMENT RDMABLK_TEST_BACKING=${backing})
endforeach()

include(recovery.cmake)
