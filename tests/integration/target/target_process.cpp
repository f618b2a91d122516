#include "target_process.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string_view>
#include <utility>

#include "common/error.h"

namespace rdmablk::testing {
namespace {

std::string test_address() {
  const char* address = std::getenv("RDMABLK_TEST_ADDRESS");
  return address != nullptr ? address : "127.0.0.1";
}

/// Both programs are built into one folder.
std::string path_of(const std::string& program) {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path() / program;
}

[[noreturn]] void execute(const std::vector<std::string>& arguments, int input, int output) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::dup2(input, STDIN_FILENO);
  ::dup2(output, STDERR_FILENO);
  std::vector<char*> argv;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  ::execv(argv.front(), argv.data());
  ::_exit(127);
}

}  // namespace

TargetProcess::TargetProcess(const std::vector<std::string>& arguments, std::uint16_t port,
                             const std::string& program)
    : state_(::testing::TempDir() + "/rdmablk-state-XXXXXX") {
  if (::mkdtemp(state_.data()) == nullptr) throw SystemError("make a directory", errno);
  std::vector<std::string> command{path_of(program), "--log-level",    "debug", "--state-dir",
                                   state_,           "--admin-socket", "none"};
  const auto has = [&](const char* option) {
    return std::find(arguments.begin(), arguments.end(), option) != arguments.end();
  };
  if (!has("--auth")) command.push_back("--insecure");
  if (!has("--listen")) {
    command.insert(command.end(), {"--listen", test_address() + ":" + std::to_string(port)});
  }
  command.insert(command.end(), arguments.begin(), arguments.end());
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw SystemError("make a pipe", errno);
  output_.reset(ends[0]);
  UniqueFd input(ends[1]);
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw SystemError("make a pipe", errno);
  const UniqueFd commands(ends[0]);
  input_.reset(ends[1]);
  pid_ = ::fork();
  if (pid_ < 0) throw SystemError("fork", errno);
  if (pid_ == 0) execute(command, commands.get(), input.get());
  wait_until_listening(std::move(input));
}

void TargetProcess::wait_until_listening(UniqueFd input) {
  input.reset();  // so that the end of the child is the end of its log
  constexpr std::string_view kReady = "listening on ";
  while (log_.find(kReady) == std::string::npos || !log_.ends_with('\n')) {
    if (!read_log()) throw Error("the target ended instead of listening:\n" + log_);
  }
  const auto start = log_.find(kReady) + kReady.size();
  address_ = resolve(parse_host_port(log_.substr(start, log_.find(' ', start) - start))).front();
}

TargetProcess::~TargetProcess() {
  if (pid_ >= 0) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  std::error_code ignored;
  std::filesystem::remove_all(state_, ignored);
}

void TargetProcess::show_log_if_failed() {
  if (!::testing::Test::HasFailure()) return;
  if (pid_ >= 0) {
    terminate();
    wait();
  }
  std::cerr << "The target's log:\n" << log_;
}

bool TargetProcess::read_log() {
  std::array<char, 4096> buffer;
  const ssize_t size = ::read(output_.get(), buffer.data(), buffer.size());
  if (size > 0) log_.append(buffer.data(), static_cast<std::size_t>(size));
  return size > 0 || (size < 0 && errno == EINTR);
}

void TargetProcess::limit_file_size(std::uint64_t size) const {
  const rlimit limit{size, RLIM_INFINITY};
  EXPECT_EQ(::prlimit(pid_, RLIMIT_FSIZE, &limit, nullptr), 0);
}

void TargetProcess::reload() const {
  ::kill(pid_, SIGHUP);
}

void TargetProcess::wait_for_log(std::string_view text) {
  while (log_.find(text) == std::string::npos) {
    if (!read_log()) throw Error("the target ended instead of logging " + std::string(text));
  }
}

std::string TargetProcess::wait_for_line(std::string_view text) {
  for (;;) {
    const auto start = log_.find(text, read_lines_);
    const auto end = start == std::string::npos ? start : log_.find('\n', start);
    if (end != std::string::npos) {
      read_lines_ = end;
      return log_.substr(start + text.size(), end - start - text.size());
    }
    if (!read_log()) throw Error("the target ended instead of logging " + std::string(text));
  }
}

void TargetProcess::write_input(std::string_view text) const {
  if (::write(input_.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
    throw SystemError("tell the target something", errno);
  }
}

std::string TargetProcess::counts() {
  const std::size_t known = log_.size();
  ::kill(pid_, SIGUSR1);
  for (;;) {
    const auto start = log_.find("counts: ", known);
    const auto end = start == std::string::npos ? start : log_.find('\n', start);
    if (end != std::string::npos) return log_.substr(start, end - start);
    if (!read_log()) return "(the target has ended)";
  }
}

void TargetProcess::terminate() const {
  ::kill(pid_, SIGTERM);
}

void TargetProcess::send(int signal) const {
  ::kill(pid_, signal);
}

void TargetProcess::kill() {
  ::kill(pid_, SIGKILL);
  wait();
}

HostPort TargetProcess::host_port() const {
  return parse_host_port(address_.text());
}

std::chrono::milliseconds TargetProcess::cpu_time() const {
  std::ifstream stat("/proc/" + std::to_string(pid_) + "/stat");
  std::string skipped;
  for (int field = 1; field < 14; ++field) stat >> skipped;  // proc(5): utime is field 14
  long user = 0;
  long system = 0;
  stat >> user >> system;
  return std::chrono::milliseconds((user + system) * 1000 / ::sysconf(_SC_CLK_TCK));
}

int TargetProcess::wait() {
  while (read_log()) {
  }
  int status = 0;
  ::waitpid(std::exchange(pid_, -1), &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace rdmablk::testing
