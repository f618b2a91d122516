#include "tests/softverbs/faults/with_faults.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "tests/softverbs/verbs/child_process.h"

namespace softverbs::test {

void with_faults(const std::string& faults, const std::function<void()>& body) {
  ChildProcess child([&](Wire&) {
    setenv("SOFTVERBS_FAULTS", faults.c_str(), 1);
    body();
  });
  EXPECT_EQ(child.join(), 0) << "with SOFTVERBS_FAULTS=" << faults;
}

ScratchFile::ScratchFile() : path_(testing::TempDir() + "softverbs-XXXXXX") {
  const int fd = mkstemp(path_.data());
  if (fd >= 0) close(fd);
}

ScratchFile::~ScratchFile() {
  unlink(path_.c_str());
}

void ScratchFile::replace(const std::string& text) const {
  const std::string other = path_ + ".new";
  std::ofstream(other) << text;
  std::rename(other.c_str(), path_.c_str());
}

std::string ScratchFile::text() const {
  std::ostringstream all;
  all << std::ifstream(path_).rdbuf();
  return all.str();
}

int ScratchFile::count(const std::string& word) const {
  int lines = 0;
  std::istringstream all(text());
  for (std::string line; std::getline(all, line);) {
    if ((" " + line + " ").find(" " + word + " ") != std::string::npos) ++lines;
  }
  return lines;
}

}  // namespace softverbs::test
