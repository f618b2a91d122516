#include "common/captive/captive_command.h"

#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>

#include "common/captive/keeper.h"
#include "common/captive/offspring.h"
#include "common/error.h"

namespace rdmablk {
namespace {

/// @return whether it ended as it should, and with it all that it kept.
bool wait_for(pid_t process) {
  int status = 0;
  while (::waitpid(process, &status, 0) < 0) {
    if (errno != EINTR) return true;  // it was waited for before
  }
  return WIFEXITED(status);
}

}  // namespace

CaptiveCommand::CaptiveCommand(const std::string& command, const std::function<void()>& orphaned) {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    throw SystemError("make a socket pair", errno);
  }
  socket_.reset(ends[0]);
  UniqueFd theirs(ends[1]);
  // If the keeper is killed, what it has kept comes here.
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  keeper_ = ::fork();
  if (keeper_ < 0) throw SystemError("make a process", errno);
  if (keeper_ > 0) return;
  socket_.reset();
  ::_exit(keep(command, std::move(theirs), orphaned));
}

CaptiveCommand::~CaptiveCommand() {
  const KeeperOrder order{KeeperOrder::Kind::end, 0};
  ::send(socket_.get(), &order, sizeof order, MSG_NOSIGNAL);
  if (!wait_for(keeper_)) end_offspring();
}

void CaptiveCommand::start(const std::vector<std::pair<std::string, std::string>>& variables) {
  std::string packet(sizeof(KeeperOrder), '\0');
  const KeeperOrder order{KeeperOrder::Kind::start, 0};
  packet.replace(0, sizeof order, reinterpret_cast<const char*>(&order), sizeof order);
  for (const auto& [name, value] : variables) packet += name + "=" + value + '\0';
  if (::send(socket_.get(), packet.data(), packet.size(), MSG_NOSIGNAL) < 0) {
    throw SystemError("start the command of --run", errno);
  }
}

void CaptiveCommand::signal(int number) noexcept {
  const KeeperOrder order{KeeperOrder::Kind::signal, number};
  ::send(socket_.get(), &order, sizeof order, MSG_NOSIGNAL);
}

int CaptiveCommand::status() {
  int status = kExitFailed;
  if (::recv(socket_.get(), &status, sizeof status, MSG_DONTWAIT) == sizeof status) return status;
  if (!wait_for(keeper_)) end_offspring();
  return kExitFailed;
}

}  // namespace rdmablk
