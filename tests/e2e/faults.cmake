# Tests of what happens to file exports when processes are killed, the power is cut, and disks fail.

# rdmablk_add_fault_test(NAME SCRIPT script [ARGUMENTS argument...] [ENVIRONMENT NAME=VALUE...]
#                        [DEVICES soft|rxe|siw...] [LABELS label] [TIMEOUT seconds])
#
# Runs SCRIPT.sh on each of the devices, the software device when none is named. The label is quick on
# the software device and vm on the others, or LABELS on all.
function(rdmablk_add_fault_test name)
  cmake_parse_arguments(PARSE_ARGV 1 test "" "SCRIPT;LABELS;TIMEOUT" "ARGUMENTS;ENVIRONMENT;DEVICES")
  if(NOT test_DEVICES)
    set(test_DEVICES soft)
  endif()
  if(NOT test_TIMEOUT)
    set(test_TIMEOUT 120)
  endif()
  set(command env ${test_ENVIRONMENT} ${CMAKE_CURRENT_SOURCE_DIR}/${test_SCRIPT}.sh ${test_ARGUMENTS})
  foreach(device ${test_DEVICES})
    set(labels ${test_LABELS})
    if(device STREQUAL soft)
      if(NOT labels)
        set(labels quick)
      endif()
      add_test(NAME e2e/soft/${name} COMMAND ${command})
      set_tests_properties(e2e/soft/${name} PROPERTIES
        LABELS "${labels}" TIMEOUT ${test_TIMEOUT} SKIP_RETURN_CODE 77
        ENVIRONMENT "RDMABLK_BIN=${CMAKE_RUNTIME_OUTPUT_DIRECTORY};RDMABLK_BUILD_DIR=${PROJECT_BINARY_DIR};RDMABLK_TEST_RUNNER=${PROJECT_SOURCE_DIR}/scripts/soft-device")
    else()
      rdmablk_add_vm_test(NAME e2e/${device}/${name} DEVICE ${device} TIMEOUT ${test_TIMEOUT}
        LABELS ${labels}
        COMMAND env RDMABLK_BIN=${CMAKE_RUNTIME_OUTPUT_DIRECTORY} ${command})
    endif()
  endforeach()
endfunction()

# A name for each kind of file export, and the options that make it one.
set(fault_kinds direct=direct=on buffered=direct=off resident=resident)

foreach(entry ${fault_kinds})
  string(REGEX MATCH "^[a-z]+" kind ${entry})
  string(REGEX REPLACE "^[a-z]+=" "" options "${entry}")

  rdmablk_add_fault_test(remote_crash.${kind} SCRIPT remote_crash DEVICES soft rxe TIMEOUT 300
    ENVIRONMENT KIND=${options})
  rdmablk_add_fault_test(remote_crash_often.${kind} SCRIPT remote_crash LABELS long TIMEOUT 3000
    ENVIRONMENT KIND=${options} ROUNDS=50)
  foreach(case failed_fsync innocent)
    rdmablk_add_fault_test(remote_faults.${kind}.${case} SCRIPT remote_faults DEVICES soft rxe
      ARGUMENTS ${case} ENVIRONMENT KIND=${options})
  endforeach()
  rdmablk_add_fault_test(vm_log_writes.${kind} SCRIPT vm_log_writes DEVICES rxe
    ENVIRONMENT KIND=${options})
  if(NOT kind STREQUAL resident) # which reads and writes memory alone
    foreach(case bad_ranges short full_file_system)
      rdmablk_add_fault_test(remote_faults.${kind}.${case} SCRIPT remote_faults DEVICES soft rxe
        ARGUMENTS ${case} ENVIRONMENT KIND=${options})
    endforeach()
    rdmablk_add_fault_test(vm_dm_faults.${kind} SCRIPT vm_dm_faults DEVICES rxe
      ENVIRONMENT KIND=${options})
  else()
    rdmablk_add_fault_test(remote_faults.resident.full_resident SCRIPT remote_faults DEVICES soft rxe
      ARGUMENTS full_resident ENVIRONMENT KIND=${options})
  endif()
endforeach()
