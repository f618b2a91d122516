#include "common/softverbs/verbs/death_note.h"

#include <linux/futex.h>

namespace softverbs {

void DeathNote::sign() {
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
  pthread_mutex_init(&mutex_, &attributes);
  pthread_mutexattr_destroy(&attributes);
  pthread_mutex_lock(&mutex_);
}

bool DeathNote::reads_dead() const {
  // Locking it is how to ask, but writes to it. The word is part of the ABI of libc's condition
  // variables and of the kernel's robust lists.
  return (__atomic_load_n(&mutex_.__data.__lock, __ATOMIC_ACQUIRE) & FUTEX_OWNER_DIED) != 0;
}

}  // namespace softverbs
