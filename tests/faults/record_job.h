#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "tests/faults/acknowledgements.h"
#include "tests/faults/record_layout.h"

namespace rdmablk::testing {

/// How a writer makes sure that what it wrote is durable.
enum class Sync {
  kFsync,
  kFdatasync,
  kEachWrite,  ///< the file was opened with O_DSYNC or O_SYNC
  kNone,       ///< not at all, yet it claims so: to see that the proof can fail
};

/// One of several jobs that fill a file with records: it writes every n-th, and makes them durable
/// a few at a time. Used by one thread.
class RecordJob {
 public:
  struct Settings {
    int file = -1;
    std::uint64_t job = 0;
    std::uint64_t jobs = 1;
    std::uint64_t every = 1;  ///< writes that one flush covers
    Sync sync = Sync::kFsync;
  };

  /// The layout and the acknowledgements must outlive it.
  RecordJob(const Settings& settings, const RecordLayout& layout,
            AcknowledgementWriter& acknowledgements);

  /// Writes all its records. Throws SystemError when the file fails, with which nothing is
  /// acknowledged.
  void run();

  std::uint64_t acknowledged() const noexcept { return acknowledged_; }

 private:
  void write(const Record& record, std::uint64_t version);
  void rewrite_an_older_one();
  void make_durable();

  const Settings settings_;
  const RecordLayout& layout_;
  AcknowledgementWriter& acknowledgements_;
  std::mt19937_64 random_;
  std::vector<Version> pending_;  // written, not yet durable
  std::vector<Version> durable_;  // the newest version of each
  std::uint64_t acknowledged_ = 0;
};

}  // namespace rdmablk::testing
