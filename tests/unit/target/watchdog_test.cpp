#include "target/watchdog.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <condition_variable>
#include <cstddef>
#include <cstdlib>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "common/error.h"
#include "common/unique_fd.h"
#include "target/service_status.h"

namespace rdmablk::target {
namespace {

/// The socket of a service manager that wants to hear of this process. As long as it is there, the
/// environment names it.
class Manager {
 public:
  Manager() : socket_(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {
    const std::string name = "@rdmablk-watchdog-test-" + std::to_string(::getpid());
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    name.copy(address.sun_path, name.size());
    address.sun_path[0] = '\0';
    const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
    EXPECT_EQ(::bind(socket_.get(), reinterpret_cast<const sockaddr*>(&address), size), 0);
    ::setenv("NOTIFY_SOCKET", name.c_str(), 1);
  }
  ~Manager() {
    ::unsetenv("NOTIFY_SOCKET");
    ::unsetenv("WATCHDOG_USEC");
  }
  Manager(const Manager&) = delete;
  Manager& operator=(const Manager&) = delete;

  /// The next message that has come; empty when none has.
  std::string next() const {
    std::array<char, 4096> text{};
    const ssize_t got = ::recv(socket_.get(), text.data(), text.size(), 0);
    return got <= 0 ? std::string() : std::string(text.data(), static_cast<std::size_t>(got));
  }

 private:
  UniqueFd socket_;
};

/// Holds an I/O thread up.
class Blocker final : public IoTask {
 public:
  void run() noexcept override {
    std::unique_lock lock(mutex_);
    runs_ = true;
    changed_.notify_all();
    changed_.wait(lock, [this] { return released_; });
  }
  void await() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return runs_; });
  }
  void release() {
    const std::lock_guard lock(mutex_);
    released_ = true;
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool runs_ = false;
  bool released_ = false;
};

TEST(Watchdog, SaysNothingWhenNobodyWantsToKnow) {
  const Manager manager;
  asio::io_context io;
  const ServiceManager service;
  const Watchdog watchdog(io, service, [] { return nullptr; });
  EXPECT_EQ(manager.next(), "");
  EXPECT_EQ(io.run(), 0U);
}

TEST(Watchdog, RefusesNonsense) {
  const Manager manager;
  ::setenv("WATCHDOG_USEC", "soon", 1);
  asio::io_context io;
  const ServiceManager service;
  EXPECT_THROW(Watchdog(io, service, [] { return nullptr; }), Error);
}

TEST(Watchdog, TellsAsLongAsTheControlThreadComesRound) {
  const Manager manager;
  ::setenv("WATCHDOG_USEC", "4000", 1);
  asio::io_context io;
  const ServiceManager service;
  const Watchdog watchdog(io, service, [] { return nullptr; });
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(manager.next(), "WATCHDOG=1");
    EXPECT_EQ(manager.next(), "");
    io.run_one();
  }
}

TEST(Watchdog, FallsSilentWhileAnIoThreadIsStuck) {
  const Manager manager;
  ::setenv("WATCHDOG_USEC", "4000", 1);
  asio::io_context io;
  const ServiceManager service;
  const UniqueFd file(::memfd_create("file", MFD_CLOEXEC));
  IoThreads threads(io, 1);
  threads.expect_file(threads.take_number(), file.get());
  threads.start_if_needed();
  const Watchdog watchdog(io, service, [&] { return &threads; });
  IoThread& thread = *threads.all().front();
  const auto settle = [&thread] {
    while (!thread.pulse().is_answered()) std::this_thread::yield();
  };
  EXPECT_EQ(manager.next(), "WATCHDOG=1");
  settle();
  Blocker blocker;
  thread.post(blocker);
  blocker.await();
  io.run_one();  // the answer of before is good once more
  EXPECT_EQ(manager.next(), "WATCHDOG=1");
  for (int i = 0; i < 3; ++i) {
    io.run_one();
    EXPECT_EQ(manager.next(), "");
  }
  blocker.release();
  settle();
  io.run_one();
  EXPECT_EQ(manager.next(), "WATCHDOG=1");
}

TEST(Pulse, KnowsWhoWaitsForADevice) {
  EXPECT_EQ(thread_state("12 (io-0) D 1 12 12 0"), 'D');
  EXPECT_EQ(thread_state("12 (a) D) S 1 12 12 0"), 'S');
  EXPECT_EQ(thread_state("12 (io-0)"), '\0');
  EXPECT_EQ(thread_state(""), '\0');
  EXPECT_FALSE(waits_for_device(::gettid()));
}

TEST(ServiceStatus, TellsWhatHasChangedOnce) {
  const Manager manager;
  asio::io_context io;
  const ServiceManager service;
  std::string text = "one";
  ServiceStatus status(io, service, [&] { return text; });
  EXPECT_EQ(manager.next(), "STATUS=one");
  status.changed();
  io.run();
  EXPECT_EQ(manager.next(), "");
  text = "two";
  for (int i = 0; i < 3; ++i) status.changed();
  io.restart();
  io.run();
  EXPECT_EQ(manager.next(), "STATUS=two");
  EXPECT_EQ(manager.next(), "");
}

TEST(ServiceStatus, IsALineForPeople) {
  using Names = std::vector<std::string_view>;
  EXPECT_EQ(service_status_text({}, 0, 0), "0 exports; 0 sessions");
  EXPECT_EQ(service_status_text(Names{"disk"}, 64 << 20, 1), "1 export (disk), 64 MiB; 1 session");
  EXPECT_EQ(service_status_text(Names{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"}, 512, 2),
            "10 exports (a, b, c, d, e, f, g, h and 2 more), 512 bytes; 2 sessions");
}

TEST(ServiceManager, SaysWhenItReloads) {
  const Manager manager;
  const ServiceManager service;
  service.tell_reloading();
  EXPECT_TRUE(manager.next().starts_with("RELOADING=1\nMONOTONIC_USEC="));
}

}  // namespace
}  // namespace rdmablk::target
