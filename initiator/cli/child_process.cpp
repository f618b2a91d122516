#include "initiator/cli/child_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <filesystem>

#include "common/error.h"
#include "common/unique_fd.h"

namespace rdmablk::cli {
namespace {

constexpr const char* kFuseProgram = "rdmablk-fuse";

std::string read_all(int fd) {
  std::string text;
  std::array<char, 512> buffer{};
  while (true) {
    const ssize_t count = ::read(fd, buffer.data(), buffer.size());
    if (count > 0) text.append(buffer.data(), static_cast<std::size_t>(count));
    if (count == 0 || (count < 0 && errno != EINTR)) return text;
  }
}

class FileActions {
 public:
  FileActions() { posix_spawn_file_actions_init(&actions_); }
  ~FileActions() { posix_spawn_file_actions_destroy(&actions_); }
  FileActions(const FileActions&) = delete;
  FileActions& operator=(const FileActions&) = delete;
  posix_spawn_file_actions_t* get() noexcept { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_;
};

}  // namespace

int Outcome::exit_status() const noexcept {
  constexpr int kBySignal = 128;
  return WIFEXITED(status) ? WEXITSTATUS(status) : kBySignal + WTERMSIG(status);
}

std::string Outcome::complaint() const {
  std::string line = text;
  while (line.ends_with('\n')) line.pop_back();
  line.erase(0, line.rfind('\n') + 1);
  const auto colon = line.find(": ");
  const bool has_name = colon != std::string::npos && line.find(' ') == colon + 1;
  if (has_name) line.erase(0, colon + 2);
  return line;
}

Outcome run_program_and_wait(std::vector<std::string> command) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw SystemError("make a pipe", errno);
  const UniqueFd output(ends[0]);
  UniqueFd input(ends[1]);
  FileActions actions;
  posix_spawn_file_actions_adddup2(actions.get(), input.get(), STDERR_FILENO);
  std::vector<char*> arguments;
  for (std::string& argument : command) arguments.push_back(argument.data());
  arguments.push_back(nullptr);
  pid_t child = 0;
  if (const int error =
          posix_spawnp(&child, arguments[0], actions.get(), nullptr, arguments.data(), environ)) {
    throw SystemError(fmt::format("run {}", command[0]), error);
  }
  input.reset();
  Outcome outcome{0, read_all(output.get())};
  while (::waitpid(child, &outcome.status, 0) < 0 && errno == EINTR) {
  }
  return outcome;
}

std::string fuse_program() {
  std::error_code error;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) return kFuseProgram;
  const auto beside = self.parent_path() / kFuseProgram;
  return ::access(beside.c_str(), X_OK) == 0 ? beside.string() : kFuseProgram;
}

}  // namespace rdmablk::cli
