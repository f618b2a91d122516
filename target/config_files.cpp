#include "target/config_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <optional>
#include <system_error>

#include "common/unique_fd.h"
#include "target/config_text.h"

namespace rdmablk::target {
namespace {

constexpr std::string_view kSuffix = ".toml";

bool is_drop_in(const std::string& name) {
  return name.ends_with(kSuffix) && !name.starts_with('.');
}

/// @return what is wrong with an open file.
std::optional<std::string> fault_of(int fd) {
  struct stat status {};
  if (::fstat(fd, &status) != 0) return errno_text(errno);
  if (!S_ISREG(status.st_mode)) return "it is no regular file";
  if ((status.st_mode & S_IWOTH) != 0) {
    return fmt::format("its mode is {:04o}, so that everybody may change it: chmod o-w",
                       status.st_mode & ALLPERMS);
  }
  return std::nullopt;
}

/// Reads until the end, or one byte more than any file of ours has.
/// @return an errno value.
int read_all(int fd, std::string& content) {
  content.resize(kMaxConfigFile + 1);
  std::size_t done = 0;
  while (done < content.size()) {
    const ssize_t got = ::read(fd, content.data() + done, content.size() - done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno;
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  content.resize(done);
  return 0;
}

}  // namespace

std::string drop_in_directory(const std::string& config) {
  const std::string_view stem = config;
  const bool has_suffix = stem.ends_with(kSuffix);
  return std::string(stem.substr(0, stem.size() - (has_suffix ? kSuffix.size() : 0))) + ".d";
}

std::vector<std::string> list_drop_ins(const std::string& config, Complaints& complaints) {
  const std::string directory = drop_in_directory(config);
  const auto refuse = [&](const std::string& why) {
    complaints.add({directory, 0, 0}, fmt::format("cannot read the directory: {}", why));
    return std::vector<std::string>{};
  };
  std::vector<std::string> paths;
  std::error_code error;
  std::filesystem::directory_iterator entries(directory, error);
  if (error == std::errc::no_such_file_or_directory) return {};
  if (error) return refuse(error.message());
  for (; entries != std::filesystem::directory_iterator(); entries.increment(error)) {
    if (is_drop_in(entries->path().filename().string())) paths.push_back(entries->path().string());
    if (paths.size() > kMaxDropIns) return refuse(fmt::format("more than {} files", kMaxDropIns));
  }
  if (error) return refuse(error.message());
  std::sort(paths.begin(), paths.end());
  return paths;
}

std::string read_config_file(const std::string& path, Complaints& complaints) {
  const auto refuse = [&](const std::string& why) {
    complaints.add({path, 0, 0}, fmt::format("cannot use the configuration file: {}", why));
    return std::string{};
  };
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!fd) return refuse(errno_text(errno));
  if (const auto fault = fault_of(fd.get())) return refuse(*fault);
  std::string content;
  if (const int error = read_all(fd.get(), content); error != 0) return refuse(errno_text(error));
  return content;
}

}  // namespace rdmablk::target
