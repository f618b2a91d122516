// rdmablk-target that also takes commands from its standard input, one a line, and logs what became
// of each: "resize NAME BYTES" -> "resize NAME: done" or "resize NAME: why not".
#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <array>
#include <asio/post.hpp>
#include <asio/system_error.hpp>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <optional>
#include <sstream>
#include <string>

#include "common/cm/connection.h"
#include "common/descriptor_watch.h"
#include "common/error.h"
#include "common/log.h"
#include "target/options.h"
#include "target/server.h"

namespace rdmablk::target {
namespace {

/// Takes commands on the control thread.
class Commands {
 public:
  Commands(asio::io_context& io, Administration& administration)
      : io_(io), administration_(administration) {
    try {
      watch_.emplace(io, STDIN_FILENO, [this] { read_commands(); });
    } catch (const asio::system_error&) {  // a file, which has no events
    }
  }

 private:
  void read_commands() {
    std::array<char, 4096> buffer{};
    const ssize_t size = ::read(STDIN_FILENO, buffer.data(), buffer.size());
    if (size <= 0) return asio::post(io_, [this] { watch_.reset(); });
    text_.append(buffer.data(), static_cast<std::size_t>(size));
    for (auto end = text_.find('\n'); end != std::string::npos; end = text_.find('\n')) {
      const std::string line = text_.substr(0, end);
      text_.erase(0, end + 1);
      carry_out(line);
    }
  }

  void carry_out(const std::string& line) {
    std::istringstream words(line);
    std::string what;
    std::string name;
    std::uint64_t size = 0;
    words >> what >> name >> size;
    if (what != "resize" || !words) return spdlog::error("no command: {}", line);
    administration_.resize_export(name, size, [name](const std::optional<std::string>& failure) {
      spdlog::info("resize {}: {}", name, failure.value_or("done"));
    });
  }

  asio::io_context& io_;
  Administration& administration_;
  std::string text_;
  std::optional<DescriptorWatch> watch_;
};

int run(int argc, char** argv) {
  auto options = parse_options(argc, argv);
  if (!options) return kExitDone;
  if (const char* const wait = std::getenv("RDMABLK_TEST_RESIZE_WAIT_MS")) {
    options->limits.resize_wait = std::chrono::milliseconds(std::stoi(wait));
  }
  std::signal(SIGPIPE, SIG_IGN);
  start_logging("rdmablk-target", options->log_level);
  const ServiceManager service_manager;
  InheritedMemory inherited;
  service_manager.take_back(inherited);
  inherited.check(options->exports);
  asio::io_context io{1};
  const auto managers = cm::make_managers(methods_of(options->listen), io, options->connections);
  Server server(io, managers, service_manager, *options, std::move(inherited),
                [&options] { return *options; });
  const Commands commands(io, server);
  server.run([] {});
  return kExitDone;
}

}  // namespace
}  // namespace rdmablk::target

int main(int argc, char** argv) {
  return rdmablk::run_program("rdmablk-target", rdmablk::target::run, argc, argv);
}
