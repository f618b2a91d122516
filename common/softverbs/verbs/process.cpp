#include "common/softverbs/verbs/process.h"

#include <pthread.h>
#include <sys/prctl.h>
#include <sys/random.h>

#include <mutex>
#include <vector>

#include "common/softverbs/verbs/context.h"
#include "common/softverbs/verbs/device_watch.h"
#include "common/softverbs/verbs/queue_pair.h"
#include "common/softverbs/verbs/service.h"

namespace softverbs {
namespace {

struct Instance {
  std::mutex mutex;
  Process* process = nullptr;
};

Instance& instance() {
  static auto* const holder = new Instance;
  return *holder;
}

}  // namespace

Process::Process()
    : memfd_(SharedTableMapping::create()),
      mapping_(memfd_.get()),
      regions_(table()),
      service_(std::make_unique<Service>(*this)) {
  uint64_t token = 0;
  while (token == 0) {
    if (getrandom(&token, sizeof token, 0) != sizeof token) token = 0;
  }
  table().token = token;
  // Under Yama only a debugger may copy from and to this process; this names everyone one. It
  // fails where there is no Yama, and there it is not needed.
  prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
  device_watch_ = std::make_unique<DeviceWatch>(*this);
  for (const Device* device : DeviceSet::get().present()) set_port(*device);
}

bool Process::exists() {
  Instance& holder = instance();
  const std::lock_guard lock(holder.mutex);
  return holder.process != nullptr;
}

Process& Process::current() {
  Instance& holder = instance();
  std::lock_guard lock(holder.mutex);
  if (holder.process == nullptr) {
    static std::once_flag once;
    std::call_once(once, [] {
      pthread_atfork([] { instance().mutex.lock(); }, [] { instance().mutex.unlock(); },
                     [] {
                       Process* inherited = std::exchange(instance().process, nullptr);
                       if (inherited != nullptr) inherited->become_inherited();
                       instance().mutex.unlock();
                     });
    });
    holder.process = new Process;
  }
  return *holder.process;
}

void Process::become_inherited() {
  inherited_.store(true);
  service_->leave_to_parent();
}

void Process::wait_for_copies() {
  const auto lock = queue_pairs_.lock();
  queue_pairs_.for_each([](QueuePair& queue_pair) { queue_pair.wait_for_copies(); });
}

void Process::enter(Context& context) {
  const std::lock_guard lock(contexts_mutex_);
  contexts_.insert(&context);
  if (context.dead()) context.die();  // It was removed while it was opened.
}

void Process::leave(Context& context) {
  const std::lock_guard lock(contexts_mutex_);
  contexts_.erase(&context);
}

void Process::remove(const Device& device) {
  {
    const auto lock = queue_pairs_.lock();
    queue_pairs_.for_each([&](QueuePair& queue_pair) {
      if (&Context::from(queue_pair.context)->device() == &device) queue_pair.on_device_removal();
    });
  }
  const std::lock_guard lock(contexts_mutex_);
  for (Context* context : contexts_) {
    if (&context->device() == &device) context->die();
  }
}

void Process::set_port(const Device& device) {
  const uint32_t bit = 1U << static_cast<unsigned>(device.index);
  const bool down = device.port_down.load();
  if (down) {
    table().ports_down.fetch_or(bit);
    wait_for_copies();
  } else {
    table().ports_down.fetch_and(~bit);
  }
  const std::lock_guard lock(contexts_mutex_);
  for (Context* context : contexts_) {
    if (&context->device() == &device) {
      context->report_port(down ? IBV_EVENT_PORT_ERR : IBV_EVENT_PORT_ACTIVE);
    }
  }
}

bool Process::abandon(ibv_context* context) {
  if (inherited()) return false;
  const bool empty = Context::from(context)->objects.load() == 0;
  const auto lock = queue_pairs_.lock();
  queue_pairs_.for_each([&](QueuePair& queue_pair) {
    if (queue_pair.context != context) return;
    queue_pair.disconnect();
  });
  return empty;
}

}  // namespace softverbs
