#pragma once

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace rdmablk::copy {

/// A path in a directory of its own, gone with this. There is no file at first.
class ScratchFile {
 public:
  ScratchFile() {
    std::string pattern = std::filesystem::temp_directory_path() / "rdmablk-copy-XXXXXX";
    folder_ = ::mkdtemp(pattern.data());
  }
  ~ScratchFile() { std::filesystem::remove_all(folder_); }
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;

  std::string path() const { return folder_ / "file"; }

  void write(const std::string& text) const { std::ofstream(path(), std::ios::binary) << text; }
  std::string read() const {
    std::ifstream file(path(), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

 private:
  std::filesystem::path folder_;
};

}  // namespace rdmablk::copy
