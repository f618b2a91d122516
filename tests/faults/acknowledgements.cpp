#include "tests/faults/acknowledgements.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <iterator>
#include <sstream>

#include "common/error.h"

namespace rdmablk::testing {

namespace {

/// In one piece, so that lines of several threads do not mix.
void append(int file, const std::string& path, const std::string& text) {
  const ssize_t written = ::write(file, text.data(), text.size());
  if (written != static_cast<ssize_t>(text.size())) {
    throw SystemError("write to " + path, written < 0 ? errno : ENOSPC);
  }
}

}  // namespace

AcknowledgementWriter::AcknowledgementWriter(const std::string& path,
                                             const RecordLayout::Parameters& parameters)
    : path_(path),
      file_(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0666)) {
  if (!file_) throw SystemError("open " + path, errno);
  append(file_.get(), path_,
         fmt::format("{} {} {:d}\n", parameters.seed, parameters.size, parameters.rewrite));
}

void AcknowledgementWriter::add(const std::vector<Version>& versions) {
  std::string lines;
  for (const Version& version : versions) {
    fmt::format_to(std::back_inserter(lines), "{} {}\n", version.number, version.version);
  }
  append(file_.get(), path_, lines);
}

Acknowledgements Acknowledgements::load(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw SystemError("open " + path, errno);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  text.erase(text.rfind('\n') + 1);  // the writer may have died within a line
  std::istringstream stream(text);
  Acknowledgements result;
  RecordLayout::Parameters& parameters = result.parameters;
  if (!(stream >> parameters.seed >> parameters.size >> parameters.rewrite)) {
    throw Error(path + " is no file of acknowledgements");
  }
  for (Version entry; stream >> entry.number >> entry.version;) {
    std::uint64_t& newest = result.newest[entry.number];
    newest = std::max(newest, entry.version);
  }
  if (!stream.eof()) throw Error(path + " holds something that is no acknowledgement");
  return result;
}

}  // namespace rdmablk::testing
