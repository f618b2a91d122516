#pragma once

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "initiator/remote_image.h"
#include "initiator/session.h"
#include "tests/integration/initiator/queue_driver.h"
#include "tests/integration/target/target_process.h"
#include "tests/unit/target/scratch_directory.h"

namespace rdmablk::testing {

/// A target with one export "disk" that is kept in a sparse file, and a session on it.
class KeptImage {
 public:
  /// @param options of the export after its path: ",direct=off".
  KeptImage(std::uint64_t size, const std::string& options,
            const std::vector<std::string>& arguments = {})
      : path_(scratch_.make("disk", size)), target_(command(path_, options, arguments)) {}

  std::unique_ptr<initiator::RemoteImage> attach(unsigned queues) {
    initiator::AttachOptions options;
    options.queues = queues;
    return session_->attach("disk", options);
  }

  std::unique_ptr<initiator::RemoteImage> attach_to_read() {
    initiator::AttachOptions options;
    options.access = protocol::Access::read_only;
    return session_->attach("disk", options);
  }

  /// What the file has.
  std::vector<std::byte> content() const {
    std::ifstream file(path_, std::ios::binary);
    const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
    const auto* start = reinterpret_cast<const std::byte*>(bytes.data());
    return {start, start + bytes.size()};
  }

  const std::string& path() const { return path_; }
  TargetProcess& target() { return target_; }
  initiator::Session& session() { return *session_; }

 private:
  static std::vector<std::string> command(const std::string& path, const std::string& options,
                                          const std::vector<std::string>& arguments) {
    std::vector<std::string> words{"--export", "disk=file:" + path + options};
    words.insert(words.end(), arguments.begin(), arguments.end());
    return words;
  }

  target::ScratchDirectory scratch_;
  std::string path_;
  TargetProcess target_;
  std::unique_ptr<initiator::Session> session_ = initiator::Session::connect(target_.host_port());
};

/// Sends random requests, more than fit, whose ranges do not overlap, and keeps a model of what the
/// image must have.
class RandomRequests {
 public:
  /// @param slices as many requests are under way at once.
  RandomRequests(QueueDriver& driver, std::uint64_t size, unsigned slices)
      : driver_(driver), slice_(size / slices), model_(size) {
    for (unsigned i = 0; i < slices; ++i) idle_.push_back(i);
  }

  /// @return how many requests failed, or read what they should not have.
  int run(int count);

  const std::vector<std::byte>& model() const { return model_; }

 private:
  void start();
  bool finish();

  QueueDriver& driver_;
  std::uint64_t slice_;
  std::vector<std::byte> model_;
  std::vector<std::uint64_t> idle_;
  std::mt19937 random_{11};
};

}  // namespace rdmablk::testing
