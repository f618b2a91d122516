// rdmablk-target that also takes commands from its standard input, one a line, and logs what became
// of each: "resize NAME BYTES" -> "resize NAME: done" or "resize NAME: why not".
#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <sstream>
#include <string>

#include "common/cm/connection.h"
#include "common/error.h"
#include "common/log.h"
#include "common/unique_fd.h"
#include "target/options.h"
#include "target/server.h"

namespace rdmablk::target {
namespace {

/// Has commands come in with the events of connections: so they are carried out by the control
/// thread.
class CommandedManager final : public cm::ConnectionManager {
 public:
  CommandedManager() : events_(::epoll_create1(EPOLL_CLOEXEC)) {
    watch(real_->fd());
    watch(STDIN_FILENO);
  }

  void command(Administration& administration) { administration_ = &administration; }

  int fd() const noexcept override { return events_.get(); }
  void process() override {
    real_->process();
    std::array<epoll_event, 2> ready{};
    const int count = ::epoll_wait(events_.get(), ready.data(), ready.size(), 0);
    for (int i = 0; i < count; ++i) {
      if (ready[i].data.fd == STDIN_FILENO) read_commands();
    }
  }
  std::span<ibv_context* const> devices() const noexcept override { return real_->devices(); }
  std::unique_ptr<cm::Listener> listen(const SocketAddress& address,
                                       cm::RequestHandler& handler) override {
    return real_->listen(address, handler);
  }
  std::unique_ptr<cm::Connection> open(const SocketAddress& peer,
                                       cm::EventHandler& handler) override {
    return real_->open(peer, handler);
  }

 private:
  void watch(int fd) const {
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.fd = fd;
    ::epoll_ctl(events_.get(), EPOLL_CTL_ADD, fd, &event);  // a file has no events
  }

  void read_commands() {
    std::array<char, 4096> buffer{};
    const ssize_t size = ::read(STDIN_FILENO, buffer.data(), buffer.size());
    if (size <= 0) {
      ::epoll_ctl(events_.get(), EPOLL_CTL_DEL, STDIN_FILENO, nullptr);
      return;
    }
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
    administration_->resize_export(name, size, [name](const std::optional<std::string>& failure) {
      spdlog::info("resize {}: {}", name, failure.value_or("done"));
    });
  }

  std::unique_ptr<cm::ConnectionManager> real_ = cm::make_rdmacm();
  UniqueFd events_;
  std::string text_;
  Administration* administration_ = nullptr;
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
  CommandedManager manager;
  Server server(manager, service_manager, *options, std::move(inherited),
                [&options] { return *options; });
  manager.command(server);
  server.run([] {});
  return kExitDone;
}

}  // namespace
}  // namespace rdmablk::target

int main(int argc, char** argv) {
  return rdmablk::run_program("rdmablk-target", rdmablk::target::run, argc, argv);
}
