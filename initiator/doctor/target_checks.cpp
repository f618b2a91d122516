#include "initiator/doctor/target_checks.h"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <functional>

#include "common/counted.h"
#include "common/error.h"
#include "common/random.h"
#include "common/socket_address.h"
#include "common/verbs/context.h"
#include "initiator/admin_link.h"
#include "initiator/cli/session_watch.h"
#include "initiator/control_loop.h"
#include "initiator/reach_hint.h"
#include "initiator/remote_image.h"
#include "initiator/session.h"

namespace rdmablk::doctor {
namespace {

using initiator::ConnectError;
using initiator::ControlLoop;
using initiator::Obstacle;

/// Bytes that are read for a trial.
constexpr std::uint64_t kTrialBytes = 512;

/// A step has added a failure: nothing that follows can work.
struct Ended {};

/// What went wrong, without what it says to do.
std::string without_hint(std::string why, const SocketAddress& peer, cm::Method method) {
  const std::string hint = "; " + initiator::reach_hint(peer, method);
  if (why.ends_with(hint)) why.resize(why.size() - hint.size());
  return why;
}

/// The steps, each of which adds its finding.
class TargetCheck {
 public:
  TargetCheck(const TargetOptions& options, Findings& findings)
      : options_(options), findings_(findings) {}

  /// Throws Ended.
  void run() {
    reach();
    for (const HostPort& path : options_.paths) check_path(path);
    if (wants_key_ && !options_.credentials) return;
    look_around();
  }

 private:
  void reach() {
    const auto addresses = resolve_name();
    step(
        "device",
        [this] { loop_.emplace(options_.connection.method, options_.connection.settings); },
        "`rdmablk devices` explains the ways to get one");
    greet(find_way(addresses));
  }

  /// Adds one finding: the way there, or the first thing in it that fails.
  void check_path(const HostPort& path) {
    TargetOptions options = options_;
    options.target = path;
    Findings steps;
    try {
      TargetCheck(options, steps).reach();
    } catch (const Ended&) {
      const Finding& last = steps.back();
      const bool says_where = last.found.find(path.text()) != std::string::npos;
      const std::string where = says_where ? "" : path.text() + ": ";
      findings_.push_back(failure("path", where + last.found, last.advice));
      return;
    }
    const auto route = std::ranges::find(steps, "route", &Finding::check);
    findings_.push_back(good("path", route->found));
  }

  void step(const char* check, const std::function<void()>& work, const char* advice) {
    try {
      work();
    } catch (const Error& error) {
      end(failure(check, initiator::without_doctor(error.what()), advice));
    }
  }

  [[noreturn]] void end(Finding finding) {
    findings_.push_back(std::move(finding));
    throw Ended{};
  }

  ControlLoop::Clock::time_point deadline() const {
    return ControlLoop::Clock::now() + options_.timeout;
  }

  std::vector<SocketAddress> resolve_name() {
    std::vector<SocketAddress> addresses;
    step(
        "name", [&] { addresses = resolve(options_.target); },
        "check the spelling; add the host to DNS or /etc/hosts, or give its address");
    std::string text;
    for (const auto& address : addresses) text += (text.empty() ? "" : ", ") + address.text();
    findings_.push_back(good("name", text));
    return addresses;
  }

  /// The first address that a device leads to.
  SocketAddress find_way(const std::vector<SocketAddress>& addresses) {
    std::string why;
    std::optional<SocketAddress> deaf;
    for (const SocketAddress& address : addresses) {
      try {
        const initiator::Link link(*loop_, address, deadline());
        findings_.push_back(
            good("route",
                 fmt::format("{} leads to {}", verbs::device_name(link.device()), address.text())));
        return address;
      } catch (const ConnectError& error) {
        why = error.what();
        // By TCP the host says so before anything else is known.
        if (error.obstacle() == Obstacle::no_listener) deaf = address;
      } catch (const Error& error) {
        why = error.what();
      }
    }
    if (deaf) {
      findings_.push_back(good("route", fmt::format("the host of {} answers", deaf->text())));
      end(unreachable(Obstacle::no_listener, why, *deaf, options_.connection.method));
    }
    end(unreachable(Obstacle::no_way, why, addresses.back(), options_.connection.method));
  }

  /// Connects, and says HELLO.
  void greet(const SocketAddress& address) {
    std::optional<initiator::AdminLink> admin;
    try {
      admin.emplace(*loop_, address, deadline());
    } catch (const ConnectError& error) {
      end(unreachable(error.obstacle(), error.what(), address, options_.connection.method));
    } catch (const Error& error) {
      end(failure("connection", initiator::without_doctor(error.what()), "see the findings above"));
    }
    findings_.push_back(good("connection", fmt::format("{} accepts", address.text())));
    try {
      hello(*admin);
    } catch (const Error& error) {
      end(unanswered(*admin, error.what(), address));
    }
    admin->lose("through");
  }

  /// By TCP, connecting proves nothing of RDMA: the first message does.
  Finding unanswered(const initiator::AdminLink& admin, const std::string& why,
                     const SocketAddress& address) const {
    const std::string found = initiator::without_doctor(why);
    if (admin.lost() && admin.is_path_to_blame()) {
      return failure("connection", found,
                     initiator::network_hint(address, options_.connection.method));
    }
    return failure("protocol", found, "use the same release of rdmablk on both hosts");
  }

  void hello(initiator::AdminLink& admin) {
    protocol::Hello hello;
    hello.instance = random_bytes<protocol::InstanceId>();
    hello.version_min = protocol::kVersion;
    hello.version_max = protocol::kVersion;
    const auto reply =
        admin.ask<protocol::HelloReply>(fmt::format("say hello to {}", options_.target.text()),
                                        protocol::MessageType::hello, hello, deadline());
    if (reply.version != protocol::kVersion) {
      throw Error(fmt::format("it speaks version {} of the protocol, this end version {}",
                              reply.version, protocol::kVersion));
    }
    findings_.push_back(good("protocol", fmt::format("version {}", reply.version)));
    wants_key_ = reply.authentication != protocol::Authentication::none;
    if (!wants_key_ && options_.credentials) {
      findings_.push_back(
          failure("authentication", "it asks for no key, and there is a --keyfile",
                  "whoever has a key does not talk to just anybody: is this the "
                  "right host? Start its target with --auth, or leave the key out"));
      throw Ended{};
    }
    if (!wants_key_) {
      findings_.push_back(good("authentication", "it asks for none (--insecure)"));
    } else if (options_.credentials) {
      findings_.push_back(good("authentication", "it asks for a key, which there is"));
    } else {
      findings_.push_back(warning("authentication", "it asks who this is, and there is no key",
                                  "give --keyfile FILE, with the key that its administrator made "
                                  "(`rdmablk keygen`), to see more"));
    }
  }

  /// Opens a session, lists, and reads a little.
  void look_around() {
    std::unique_ptr<initiator::Session> session;
    std::vector<protocol::ExportInfo> exports;
    step(
        "session",
        [&] {
          session = initiator::Session::connect(
              options_.target,
              cli::tool_options(options_.timeout, options_.connection, options_.credentials));
          exports = session->list();
        },
        "look at the target's log");
    findings_.push_back(
        good("session", fmt::format("{} to be seen", counted(exports.size(), "export"))));
    if (exports.empty()) {
      findings_.push_back(skipped("read", "there is no export to read from"));
      return;
    }
    const std::string& name = exports.front().name;
    step(
        "read", [&] { read(*session, name); }, "look at the target's log");
    findings_.push_back(good("read", fmt::format("{} bytes of '{}'", kTrialBytes, name)));
  }

  void read(initiator::Session& session, const std::string& name) {
    initiator::AttachOptions attach;
    attach.access = protocol::Access::read_only;
    attach.depth = 1;
    attach.max_io = 4096;
    const auto image = session.attach(name, attach);
    const auto buffers = image->make_buffers(kTrialBytes);
    const auto queue = image->make_queue(1);
    const cli::SessionWatch watch(session);
    initiator::Request request;
    request.length = kTrialBytes;
    request.data = buffers->bytes().data();
    request.keys = buffers->keys();
    queue->submit(request);
    queue->kick();
    if (!wait(*queue, deadline())) throw Error("the READ has not come back in time");
    if (request.error != 0) throw SystemError(fmt::format("read '{}'", name), request.error);
  }

  /// @return false when nothing came back in time.
  static bool wait(initiator::Queue& queue, ControlLoop::Clock::time_point until) {
    initiator::Request* done = nullptr;
    while (queue.poll({&done, 1}) == 0) {
      queue.arm();
      if (queue.poll({&done, 1}) > 0) return true;
      const auto rest =
          std::chrono::ceil<std::chrono::milliseconds>(until - ControlLoop::Clock::now());
      if (rest.count() <= 0) return false;
      pollfd waiting{queue.fd(), POLLIN, 0};
      ::poll(&waiting, 1, static_cast<int>(rest.count()));
    }
    return true;
  }

  const TargetOptions& options_;
  Findings& findings_;
  std::optional<ControlLoop> loop_;
  bool wants_key_ = false;
};

}  // namespace

Finding unreachable(Obstacle obstacle, const std::string& message, const SocketAddress& peer,
                    cm::Method method) {
  const bool is_tcp = method == cm::Method::tcp;
  switch (obstacle) {
    case Obstacle::no_way:
      return failure(
          "route", initiator::without_doctor(without_hint(message, peer, method)),
          is_tcp ? "check that a port of an RDMA device is active, with an address of "
                   "the target's family (`rdmablk devices`), and that the host is up "
                   "(`ping`)"
                 : "check `ip route get ADDRESS`, that the interface it names is that of an RDMA "
                   "device (`rdma link`), and that the host is up (`ping`)");
    case Obstacle::no_listener:
      return failure("connection", fmt::format("nobody listens on {}", peer.text()),
                     "the network is well: start rdmablk-target there (`systemctl status "
                     "rdmablk-target`), and check its --cm, --listen and the port");
    case Obstacle::no_answer:
      return failure("connection", "no answer from " + peer.text(),
                     initiator::network_hint(peer, method));
    case Obstacle::refusal:
    case Obstacle::other:
      break;
  }
  return failure("connection", initiator::without_doctor(message), "look at the target's log");
}

void check_target(const TargetOptions& options, Findings& findings) {
  try {
    TargetCheck(options, findings).run();
  } catch (const Ended&) {
    findings.push_back(skipped("the rest of the way", "as what comes before it fails"));
  } catch (const Error& error) {
    findings.push_back(
        failure("connection", initiator::without_doctor(error.what()), "look at the target's log"));
  }
}

}  // namespace rdmablk::doctor
