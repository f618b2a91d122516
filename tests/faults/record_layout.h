#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace rdmablk::testing {

/// Where a record lies; its place and length follow from the seed and its number.
struct Record {
  std::uint64_t number = 0;
  std::uint64_t offset = 0;  ///< bytes from the start of the file, at no boundary
  std::size_t length = 0;    ///< bytes, header and checksum included
};

/// Numbered records of all sizes that fill a file, side by side without a gap. All that is in them
/// follows from seed, number and version: header (magic, seed, number, version, length),
/// pseudo-random payload, SHA-256 of both.
class RecordLayout {
 public:
  struct Parameters {
    std::uint64_t seed = 0;
    std::uint64_t size = 0;  ///< of the file, in bytes
    /// Each record has two places; versions take turns, so that a version that is being written
    /// never damages the one before it.
    bool rewrite = false;
  };

  /// Throws Error when not even one record fits.
  explicit RecordLayout(const Parameters& parameters);

  const Parameters& parameters() const noexcept { return parameters_; }
  const std::vector<Record>& records() const noexcept { return records_; }

  std::uint64_t offset(const Record& record, std::uint64_t version) const noexcept;
  std::vector<std::byte> content(const Record& record, std::uint64_t version) const;

  /// What is in place of a record, for people: "zeroes", "version 3", "something else from byte 512
  /// on".
  std::string describe(const Record& record, std::uint64_t version,
                       std::span<const std::byte> found) const;

 private:
  Parameters parameters_;
  std::vector<Record> records_;
};

}  // namespace rdmablk::testing
