#pragma once

#include <gtest/gtest.h>
#include <poll.h>
#include <rdmablk.h>
#include <sys/wait.h>

#include <condition_variable>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "tests/integration/target/target_process.h"

namespace rdmablk::testing {

struct CloseImage {
  void operator()(rdmablk_image* image) const noexcept { rdmablk_close(image); }
};
using OwnedImage = std::unique_ptr<rdmablk_image, CloseImage>;

struct FreeOptions {
  void operator()(rdmablk_options* options) const noexcept { rdmablk_options_free(options); }
};
using OwnedOptions = std::unique_ptr<rdmablk_options, FreeOptions>;

using Completions = std::vector<rdmablk_completion>;

/// How long something may take that is sure to come. Milliseconds.
constexpr int kPatience = 60000;

inline OwnedOptions make_options() {
  return OwnedOptions(rdmablk_options_new());
}

inline std::string uri_of(const TargetProcess& target, const std::string& name) {
  return "rdmablk://" + target.host_port().text() + "/" + name;
}

/// @param options null: the usual ones.
inline OwnedImage connect(const TargetProcess& target, const std::string& name,
                          const OwnedOptions& options = nullptr) {
  rdmablk_image* image = nullptr;
  EXPECT_EQ(rdmablk_connect(uri_of(target, name).c_str(), options.get(), &image), 0)
      << rdmablk_error();
  return OwnedImage(image);
}

/// What connecting fails with.
inline int connect_error(const std::string& uri, const OwnedOptions& options = nullptr) {
  rdmablk_image* image = nullptr;
  const int result = rdmablk_connect(uri.c_str(), options.get(), &image);
  EXPECT_EQ(OwnedImage(image), nullptr);
  return result;
}

inline rdmablk_queue* queue_of(const OwnedImage& image, unsigned index = 0) {
  rdmablk_queue* const queue = rdmablk_get_queue(image.get(), index);
  EXPECT_NE(queue, nullptr) << rdmablk_error();
  return queue;
}

inline rdmablk_memory* memory_of(const OwnedImage& image, std::size_t bytes) {
  rdmablk_memory* memory = nullptr;
  EXPECT_EQ(rdmablk_memory_alloc(image.get(), bytes, &memory), 0) << rdmablk_error();
  return memory;
}

inline std::byte* data_of(const rdmablk_memory* memory) {
  return static_cast<std::byte*>(rdmablk_memory_data(memory));
}

/// Waits for one completion.
inline rdmablk_completion wait_for_one(rdmablk_queue* queue) {
  rdmablk_completion completion{};
  EXPECT_EQ(rdmablk_wait(queue, &completion, 1, kPatience), 1) << rdmablk_error();
  return completion;
}

/// Whether a descriptor tells of something.
inline bool is_readable(int fd, int patience) {
  pollfd source{fd, POLLIN, 0};
  return ::poll(&source, 1, patience) == 1;
}

/// Bytes that look like no others.
inline std::vector<std::byte> pattern(std::size_t size, unsigned seed) {
  std::vector<std::byte> bytes(size);
  std::uint32_t state = seed * 2654435761U + 1;
  for (std::byte& byte : bytes) {
    state = state * 1664525U + 1013904223U;
    byte = static_cast<std::byte>(state >> 24U);
  }
  return bytes;
}

/// Stops a target, which is this process's only child, in the middle of whatever it does.
inline void freeze(const TargetProcess& target) {
  target.send(SIGSTOP);
  int status = 0;
  ASSERT_GT(::waitpid(-1, &status, WUNTRACED), 0);
  ASSERT_TRUE(WIFSTOPPED(status));
}

inline rdmablk_status status_of(const OwnedImage& image) {
  rdmablk_status status{};
  EXPECT_EQ(rdmablk_get_status(image.get(), &status, sizeof status), 0);
  return status;
}

/// Is told of changes, and lets a test wait for what they lead to. Outlives the image.
class Changes {
 public:
  void listen(const OwnedOptions& options) {
    const auto told = [](void* user) {
      auto* const self = static_cast<Changes*>(user);
      const std::lock_guard lock(self->mutex_);
      ++self->count_;
      self->changed_.notify_all();
    };
    EXPECT_EQ(rdmablk_options_set_on_change(options.get(), told, this), 0);
  }

  /// @return whether `done` says so, which is asked after each change.
  template <typename Done>
  bool wait_until(Done done) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::milliseconds(kPatience), done);
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  unsigned count_ = 0;
};

}  // namespace rdmablk::testing
