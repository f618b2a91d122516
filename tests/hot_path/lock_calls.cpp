#include <pthread.h>

#include "tests/hot_path/counter.h"

HOT_PATH_COUNTED(lock, int, pthread_mutex_lock, (pthread_mutex_t * mutex), (mutex), noexcept)
HOT_PATH_COUNTED(lock, int, pthread_mutex_trylock, (pthread_mutex_t * mutex), (mutex), noexcept)
HOT_PATH_COUNTED(lock, int, pthread_rwlock_rdlock, (pthread_rwlock_t * lock), (lock), noexcept)
HOT_PATH_COUNTED(lock, int, pthread_rwlock_wrlock, (pthread_rwlock_t * lock), (lock), noexcept)
HOT_PATH_COUNTED(lock, int, pthread_rwlock_tryrdlock, (pthread_rwlock_t * lock), (lock), noexcept)
HOT_PATH_COUNTED(lock, int, pthread_rwlock_trywrlock, (pthread_rwlock_t * lock), (lock), noexcept)
HOT_PATH_COUNTED(lock, int, pthread_spin_lock, (pthread_spinlock_t * lock), (lock), noexcept)
HOT_PATH_COUNTED(lock, int, pthread_cond_signal, (pthread_cond_t * condition), (condition),
                 noexcept)
HOT_PATH_COUNTED(lock, int, pthread_cond_broadcast, (pthread_cond_t * condition), (condition),
                 noexcept)
