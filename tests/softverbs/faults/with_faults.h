#pragma once

#include <functional>
#include <string>

namespace softverbs::test {

/// Runs `body` in a forked process in which SOFTVERBS_FAULTS is `faults`: the device reads it once.
/// Make nothing of the device before. Failed expectations in `body` fail the test.
void with_faults(const std::string& faults, const std::function<void()>& body);

/// A file that is gone with the object.
class ScratchFile {
 public:
  ScratchFile();
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;
  ~ScratchFile();

  [[nodiscard]] const std::string& path() const { return path_; }
  /// Puts another file in its place.
  void replace(const std::string& text) const;
  [[nodiscard]] std::string text() const;
  /// How many lines have this word.
  [[nodiscard]] int count(const std::string& word) const;

 private:
  std::string path_;
};

}  // namespace softverbs::test
