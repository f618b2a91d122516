# Histories that must be explained, through faults of the device, of processes and of the target, with an
# initiator that recovers and a target that fences. Some writers share the export; some take its lease
# over from each other. On the kernel's devices only processes are killed and stopped.
set(faults 100)
if(RDMABLK_SANITIZE)
  set(faults 40) # each takes longer
endif()
foreach(backing memory direct buffered resident)
  rdmablk_add_fault_test(remote_checker/${backing} SCRIPT remote_checker
    ENVIRONMENT RDMABLK_TEST_BACKING=${backing} EXPORT=shared FAULTS=${faults})
  rdmablk_add_fault_test(remote_checker_often/${backing} SCRIPT remote_checker LABELS long TIMEOUT 7200
    ENVIRONMENT RDMABLK_TEST_BACKING=${backing} EXPORT=shared FAULTS=10000)
endforeach()
foreach(backing memory direct)
  rdmablk_add_fault_test(remote_checker/${backing} SCRIPT remote_checker DEVICES rxe TIMEOUT 180
    ENVIRONMENT RDMABLK_TEST_BACKING=${backing} EXPORT=shared FAULTS=6)
  rdmablk_add_fault_test(remote_checker_lease/${backing} SCRIPT remote_checker
    ENVIRONMENT RDMABLK_TEST_BACKING=${backing} CHECKER=--take-over FAULTS=${faults})
endforeach()

# It is noticed when a part of the fencing is missing, and not when none is. Noticing takes luck: some 30
# faults without leases, and now and then 100; so there are as many as it takes. It shows where words of rdma_cm get
# lost, which those of TCP do not.
set(until_noticed FAULTS=1500)
set(lost cm-lost:event=disconnected)
foreach(part queue_pairs none)
  set(bound FAULTS=150)
  if(NOT part STREQUAL none)
    set(bound UNFENCED=${part} ${until_noticed})
  endif()
  rdmablk_add_fault_test(remote_unfenced/queue_pairs/${part} SCRIPT remote_checker TIMEOUT 300 WAYS rdmacm
    ENVIRONMENT ${bound} EXPORT=shared PLAN=late-write:rate=1/2000:ms=100,${lost})
endforeach()
foreach(part files none)
  set(bound FAULTS=40)
  if(NOT part STREQUAL none)
    set(bound UNFENCED=${part} ${until_noticed})
  endif()
  rdmablk_add_fault_test(remote_unfenced/files/${part} SCRIPT remote_checker TIMEOUT 300 WAYS rdmacm
    ENVIRONMENT ${bound} RDMABLK_TEST_BACKING=direct SLOW_DISK=60 CHECKERS=2 CHECKER=--take-over
      PLAN=qp-death:rate=1/400)
endforeach()
rdmablk_add_fault_test(remote_unfenced/leases SCRIPT remote_checker TIMEOUT 300 WAYS rdmacm
  ENVIRONMENT UNFENCED=leases ${until_noticed} CHECKERS=2 CHECKER=--take-over
    PLAN=qp-death:rate=1/4000,${lost}:rate=1/2)
