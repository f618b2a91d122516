#pragma once

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

#include "tests/fuzz/output.h"

namespace rdmablk::fuzz {

/// Writes the inputs that fuzzers begin with.
class Seeds {
 public:
  explicit Seeds(std::filesystem::path directory) : directory_(std::move(directory)) {}

  void target(const std::string& name) {
    target_ = directory_ / name;
    std::filesystem::create_directories(target_);
  }

  void add(const std::string& name, const Output& output) const {
    std::ofstream file(target_ / name, std::ios::binary);
    const auto made = output.made();
    file.write(reinterpret_cast<const char*>(made.data()),
               static_cast<std::streamsize>(made.size()));
    if (!file.flush()) throw std::runtime_error("cannot write a seed");
  }

 private:
  std::filesystem::path directory_;
  std::filesystem::path target_;
};

// One for each target.
void add_admin_messages(Seeds& seeds);
void add_admin_requests(Seeds& seeds);
void add_io_messages(Seeds& seeds);
void add_connection_data(Seeds& seeds);
void add_tcp_exchange(Seeds& seeds);
void add_texts(Seeds& seeds);
void add_command_lines(Seeds& seeds);
void add_earlier_process(Seeds& seeds);
void add_target_session(Seeds& seeds);
void add_target_queue(Seeds& seeds);
void add_initiator_queue(Seeds& seeds);
void add_initiator_session(Seeds& seeds);

}  // namespace rdmablk::fuzz
