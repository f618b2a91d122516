#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/unique_fd.h"
#include "target/export_spec.h"
#include "target/memory_record.h"

namespace rdmablk::target {

/// The memory of an export and what is known of it, to be kept by another process.
struct KeptMemory {
  UniqueFd memory;
  RecordMemory record;
  bool in_store = false;  ///< the service manager has it, too
};

/// How an export as it is asked for differs from memory that was kept of it, for people; empty: it
/// can be served. The size of its file is not looked at. Throws SystemError.
std::string difference(const ExportSpec& spec, const MemoryRecord& record);

/// How the two are called there.
std::string memory_fd_name(const std::string& name);
std::string record_fd_name(const std::string& name);

/// The memory of exports that an earlier process has left to this one, by the service manager or by
/// itself. None is dropped unless that was asked for.
class InheritedMemory {
 public:
  /// Takes a descriptor. @param name as above; others, and a second of the same name, are an Error.
  void add(std::string_view name, UniqueFd fd, bool in_store);

  /// Drops what there is of an export. @return whether there was anything.
  bool discard(const std::string& name);

  /// Checks that everything there is belongs to an export, as it is to be served now. What does
  /// not, and of which nothing is lost, is dropped. Throws Error, which says what else does not,
  /// and what to do.
  /// @return the names of the exports whose memory was dropped.
  std::vector<std::string> check(std::span<const ExportSpec> specs);

  bool has(const std::string& name) const { return pairs_.contains(name); }
  bool empty() const noexcept { return pairs_.empty(); }

  /// The memory of an export, if there is any. @pre check()
  std::optional<KeptMemory> take(const std::string& name);

 private:
  struct Pair {
    UniqueFd memory;
    UniqueFd record;
    std::optional<RecordMemory> checked;  ///< the same, once it was looked at
    bool in_store = false;
  };
  static const MemoryRecord& checked_record(const std::string& name, Pair& pair);

  std::map<std::string, Pair> pairs_;
};

}  // namespace rdmablk::target
