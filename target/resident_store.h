#pragma once

#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <span>
#include <string>
#include <thread>

#include "target/file_store.h"

namespace rdmablk::target {

/// The file behind a resident export and the memory that it is served from. What initiators flush
/// is written back by their queues; this loads the memory, and finds what was written to it and
/// never flushed, by comparing it with the file, on a thread of its own.
class ResidentStore {
 public:
  /// Loads the file into the memory, showing how far it has come. Throws Error.
  /// @param name of the export, for messages. @param memory of the file's size, served by devices
  /// while this compares and writes it. Both outlive this, as the store does.
  ResidentStore(std::string name, FileStore& store, std::span<std::byte> memory);
  ~ResidentStore();
  ResidentStore(const ResidentStore&) = delete;
  ResidentStore& operator=(const ResidentStore&) = delete;

  FileStore& store() const noexcept { return store_; }
  std::span<std::byte> memory() const noexcept { return memory_; }

  /// Begins to make the file equal to the memory, in the background: somebody who wrote has left.
  /// Any thread.
  void reconcile() noexcept;

  /// Makes the file equal to the memory, and stable, unless nobody has written since the last time;
  /// waits for that. When no queue is left that writes. Logs what fails.
  /// @return whether the file holds everything.
  bool settle() noexcept;

 private:
  std::string name_;
  FileStore& store_;
  std::span<std::byte> memory_;
};

}  // namespace rdmablk::target
