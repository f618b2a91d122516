#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "common/error.h"
#include "target/administration.h"
#include "target/export_keeper.h"

namespace rdmablk::target {

/// A target that does what it is told, when the test says so.
class FakeAdministration final : public Administration {
 public:
  std::vector<ExportStatus> exports() const override { return list; }
  std::vector<SessionStatus> sessions() const override { return guests; }
  Counts counts() const override { return figures; }

  void add_export(const ExportSpec& spec, ExportOrigin origin, Done done) override {
    note("add " + spec.name + (origin == ExportOrigin::run_time ? " run_time" : ""), done);
  }
  void remove_export(const std::string& name, const RemoveOptions& options, Done done) override {
    const std::string call =
        "remove " + name + (options.force ? " force" : "") + (options.discard ? " discard" : "");
    if (!failure_to_remove) return note(call, done);
    calls.push_back(call);
    done(failure_to_remove);
  }
  void adopt_export(const std::string& name, ExportOrigin origin, Done done) override {
    note("adopt " + name + (origin == ExportOrigin::run_time ? " run_time" : ""), done);
  }
  void resize_export(const std::string& name, std::uint64_t size, Done done) override {
    note("resize " + name + " " + std::to_string(size), done);
  }
  bool evict(std::uint32_t session, const std::string& reason) override {
    calls.push_back("evict " + std::to_string(session) + " " + reason);
    return std::erase_if(guests, [&](const auto& one) { return one.id == session; }) > 0;
  }
  void reload(Done done) override { note("reload", done); }

  /// Adds an export that is there.
  void offer(const std::string& spec, std::uint64_t size, ExportOrigin origin) {
    ExportStatus status;
    status.spec = parse_export_spec(spec);
    status.origin = origin;
    status.size = size;
    list.push_back(status);
  }

  std::vector<ExportStatus> list;
  std::vector<SessionStatus> guests;
  Counts figures;
  std::vector<std::string> calls;
  bool is_slow = false;  ///< what is told waits in `pending`
  std::optional<std::string> failure;
  std::optional<std::string> failure_to_remove;
  std::vector<Done> pending;

 private:
  void note(std::string call, const Done& done) {
    calls.push_back(std::move(call));
    if (is_slow) {
      pending.push_back(done);
    } else {
      done(failure);
    }
  }
};

class FakeKeeper final : public ExportKeeper {
 public:
  void keep(const ExportSpec& spec) override {
    if (!trouble.empty()) throw Error(trouble);
    calls.push_back("keep " + spec.name + " " +
                    std::to_string(spec.has_file() ? spec.file_size.value_or(0) : spec.size));
  }
  void forget(const std::string& name) override {
    if (!trouble.empty()) throw Error(trouble);
    calls.push_back("forget " + name);
  }
  bool keeps(const std::string& name) const override {
    return std::find(kept.begin(), kept.end(), name) != kept.end();
  }

  std::vector<std::string> kept;
  std::vector<std::string> calls;
  std::string trouble;
};

}  // namespace rdmablk::target
