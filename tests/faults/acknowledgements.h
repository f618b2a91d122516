#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "common/unique_fd.h"
#include "tests/faults/record_layout.h"

namespace rdmablk::testing {

/// A version of a record.
struct Version {
  std::uint64_t number = 0;
  std::uint64_t version = 0;
};

/// Tells a file which versions of records are durable. It survives the death of this process, not
/// that of the machine. Any thread may add.
class AcknowledgementWriter {
 public:
  /// Empties the file. Throws SystemError.
  AcknowledgementWriter(const std::string& path, const RecordLayout::Parameters& parameters);

  /// Throws SystemError.
  void add(const std::vector<Version>& versions);

 private:
  std::string path_;
  UniqueFd file_;
};

/// What an AcknowledgementWriter has told.
struct Acknowledgements {
  RecordLayout::Parameters parameters;
  std::map<std::uint64_t, std::uint64_t> newest;  ///< record number to version

  /// Throws Error when there is no such file, or it is none of these.
  static Acknowledgements load(const std::string& path);
};

}  // namespace rdmablk::testing
