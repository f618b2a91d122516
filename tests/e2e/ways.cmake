# Tests by each way to connect: by rdma_cm, and by TCP where the device has it.

# rdmablk_remote_environment(VARIABLE CM): what tells test scripts where the programs are, and how to connect.
function(rdmablk_remote_environment variable cm)
  set(${variable} RDMABLK_BIN=${CMAKE_RUNTIME_OUTPUT_DIRECTORY} RDMABLK_CM=${cm} PARENT_SCOPE)
endfunction()

# rdmablk_device_name(VARIABLE DEVICE CM): what stands for a device and a way to connect in the names of tests:
# soft, rxe, siw for rdma_cm, soft-tcp, rxe-tcp for TCP.
function(rdmablk_device_name variable device cm)
  if(cm STREQUAL "tcp")
    string(APPEND device -tcp)
  endif()
  set(${variable} ${device} PARENT_SCOPE)
endfunction()

# rdmablk_ways_of(VARIABLE DEVICE): the ways to connect that a device has. With sanitizers there is the first
# alone: the other one has its own tests, and above it all is the same code.
function(rdmablk_ways_of variable device)
  set(ways rdmacm)
  if(NOT device STREQUAL "siw" AND NOT RDMABLK_SANITIZE)
    list(APPEND ways tcp)
  endif()
  set(${variable} ${ways} PARENT_SCOPE)
endfunction()

# rdmablk_add_soft_test(NAME LABEL label [TIMEOUT seconds] COMMAND command [argument...]
# [ENVIRONMENT NAME=VALUE...] [WAYS rdmacm|tcp...]): runs a script on the software device, by each way to connect, or
# by WAYS, as e2e/soft/NAME and e2e/soft-tcp/NAME.
function(rdmablk_add_soft_test name)
  cmake_parse_arguments(PARSE_ARGV 1 soft "" "LABEL;TIMEOUT" "COMMAND;ENVIRONMENT;WAYS")
  rdmablk_ways_of(ways soft)
  if(soft_WAYS)
    set(ways ${soft_WAYS})
  endif()
  foreach(cm ${ways})
    rdmablk_device_name(device soft ${cm})
    rdmablk_remote_environment(environment ${cm})
    add_test(NAME e2e/${device}/${name} COMMAND ${soft_COMMAND})
    set_tests_properties(e2e/${device}/${name} PROPERTIES
      LABELS "${soft_LABEL}" TIMEOUT ${soft_TIMEOUT} SKIP_RETURN_CODE 77
      ENVIRONMENT "${environment};RDMABLK_BUILD_DIR=${PROJECT_BINARY_DIR};RDMABLK_TEST_RUNNER=${PROJECT_SOURCE_DIR}/scripts/soft-device;${soft_ENVIRONMENT}")
  endforeach()
endfunction()

# rdmablk_add_kernel_test(NAME DEVICE rxe|siw [LABELS label] [HOSTS 1|2] [LINKS 1|2] [MEMORY size] [TIMEOUT seconds]
# [WAYS rdmacm|tcp...] COMMAND command [argument...]): runs a script on the kernel's device, by each way to connect, or
# by WAYS, as e2e/DEVICE/NAME;
# with HOSTS 2 as e2e/DEVICE2/NAME. By TCP, files and what takes its time are left to the long tests: the two ways
# differ in nothing below a connection.
function(rdmablk_add_kernel_test name)
  cmake_parse_arguments(PARSE_ARGV 1 test "" "DEVICE;LABELS;HOSTS;LINKS;MEMORY;TIMEOUT" "COMMAND;WAYS")
  rdmablk_ways_of(ways ${test_DEVICE})
  if(test_WAYS)
    set(ways ${test_WAYS})
  endif()
  foreach(cm ${ways})
    set(labels ${test_LABELS})
    if(cm STREQUAL "tcp" AND name MATCHES "direct|buffered|resident|memory_kept|resize_kept|checker" AND NOT labels)
      set(labels long)
    endif()
    set(device ${test_DEVICE})
    if(test_HOSTS EQUAL 2)
      string(APPEND device 2)
    endif()
    rdmablk_device_name(device ${device} ${cm})
    rdmablk_remote_environment(environment ${cm})
    rdmablk_add_vm_test(NAME e2e/${device}/${name} DEVICE ${test_DEVICE} HOSTS "${test_HOSTS}" LINKS "${test_LINKS}"
      MEMORY "${test_MEMORY}" TIMEOUT "${test_TIMEOUT}" LABELS ${labels}
      COMMAND env ${environment} ${test_COMMAND})
  endforeach()
endfunction()
