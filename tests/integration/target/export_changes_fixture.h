#pragma once

#include <gtest/gtest.h>

#include <asio/executor_work_guard.hpp>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/cm/connection.h"
#include "common/socket_address.h"
#include "target/device_selection.h"
#include "target/export_changes.h"

namespace rdmablk::target {

using Failure = std::optional<std::string>;

inline const Failure kDone = std::nullopt;

inline ListenAddresses test_address() {
  const char* const host = std::getenv("RDMABLK_TEST_ADDRESS");
  return {{cm::Method::rdmacm, resolve({host != nullptr ? host : "127.0.0.1", 0})}};
}

/// A directory that goes away with the object.
class ChangesDirectory {
 public:
  ChangesDirectory() {
    std::string name = ::testing::TempDir() + "/rdmablk-changes-XXXXXX";
    EXPECT_NE(::mkdtemp(name.data()), nullptr);
    path_ = std::filesystem::canonical(name);
  }
  ~ChangesDirectory() { std::filesystem::remove_all(path_); }
  ChangesDirectory(const ChangesDirectory&) = delete;
  ChangesDirectory& operator=(const ChangesDirectory&) = delete;
  std::string path(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

/// Exports of a target in this process, on all devices of the address, without sessions.
class ExportChangesTest : public ::testing::Test {
 protected:
  ExportChangesTest() : exports_(make_exports()), changes_(make_changes()) {}

  std::unique_ptr<Exports> make_exports(std::uint64_t slot_memory = std::uint64_t{64} << 20) {
    options_.state_directory = directory_.path("state");
    options_.slot_memory = slot_memory;
    return std::make_unique<Exports>(io_, options_, InheritedMemory(),
                                     select_devices(managers_, test_address(), ""),
                                     service_manager_);
  }
  std::unique_ptr<ExportChanges> make_changes() {
    return std::make_unique<ExportChanges>(
        io_, *exports_, [this](const Export& gone) { ended_ = gone.spec().name; });
  }

  void run_until(const std::function<bool()>& done) {
    const auto work = asio::make_work_guard(io_);
    while (!done()) {
      io_.restart();
      io_.run_one();
    }
  }

  /// Waits for the end of a change.
  Failure await(const std::function<void(Administration::Done)>& begin) {
    std::optional<Failure> outcome;
    begin([&](Failure failure) { outcome = std::move(failure); });
    run_until([&] { return outcome.has_value(); });
    return *outcome;
  }
  Failure add(const std::string& spec) {
    return await([&](Administration::Done done) {
      changes_->add(parse_export_spec(spec), std::move(done));
    });
  }
  Failure remove(const std::string& name, const RemoveOptions& options = {}) {
    return await(
        [&](Administration::Done done) { changes_->remove(name, options, std::move(done)); });
  }

  const Offer* offer(const std::string& name) const {
    return exports_->devices().front()->catalog().find(name);
  }

  /// What the exports take, and the process.
  Counts counts() const {
    Counts counts;
    exports_->count(counts);
    counts.open_fds = count_open_fds();
    return counts;
  }

  ChangesDirectory directory_;
  asio::io_context io_{1};
  cm::Managers managers_ = cm::make_managers({cm::Method::rdmacm}, io_);
  ServiceManager service_manager_;
  Options options_;
  std::string ended_;
  std::unique_ptr<Exports> exports_;
  std::unique_ptr<ExportChanges> changes_;
};

}  // namespace rdmablk::target
