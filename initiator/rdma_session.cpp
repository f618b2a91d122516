#include "initiator/rdma_session.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>

#include "common/random.h"
#include "common/verbs/context.h"
#include "initiator/file_image.h"
#include "initiator/memory_image.h"
#include "initiator/resident_image.h"

namespace rdmablk::initiator {
namespace {

using protocol::MessageType;

/// Pages of a list; a target that promises more for ever is not believed.
constexpr int kMaxListPages = 4096;

/// The image that suits what was attached.
std::unique_ptr<RemoteImage> make_image(RdmaSession& session, const std::string& uri,
                                        protocol::AttachReply reply) {
  using protocol::ExportKind;
  const bool is_writable = reply.access == protocol::Access::read_write;
  if (reply.info.kind == ExportKind::file) {
    return std::make_unique<FileImage>(session, uri, std::move(reply));
  }
  if (reply.info.kind == ExportKind::resident && is_writable) {
    return std::make_unique<ResidentImage>(session, uri, std::move(reply));
  }
  return std::make_unique<MemoryImage>(session, uri, std::move(reply));
}

}  // namespace

std::unique_ptr<Session> Session::connect(const HostPort& target, const SessionOptions& options) {
  return std::make_unique<RdmaSession>(target, options);
}

RdmaSession::RdmaSession(const HostPort& target, const SessionOptions& options)
    : target_(target), timeout_(options.timeout) {
  connect();
  admin_->on_lost([this] {
    spdlog::error("lost the target {}", target_.text());
    end_links();
  });
  say_hello();
  buffers_domain_ = std::make_unique<verbs::ProtectionDomain>(device());
}

RdmaSession::~RdmaSession() {
  loop_.stop();
}

/// Tries the target's addresses in turn, all within one deadline.
void RdmaSession::connect() {
  const auto addresses = resolve(target_);
  const auto end = deadline();
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    try {
      admin_ = std::make_unique<AdminLink>(loop_, addresses[i], end);
      address_ = addresses[i];
      return;
    } catch (const ConnectError&) {
      if (i + 1 == addresses.size()) throw;
    }
  }
}

void RdmaSession::say_hello() {
  protocol::Hello hello;
  hello.instance = random_bytes<protocol::InstanceId>();
  hello.version_min = protocol::kVersion;
  hello.version_max = protocol::kVersion;
  const std::string doing = fmt::format("open a session with {}", target_.text());
  const auto reply =
      admin_->ask<protocol::HelloReply>(doing, MessageType::hello, hello, deadline());
  if (reply.version != protocol::kVersion) {
    throw Error(fmt::format("cannot {}: it speaks version {} of the protocol, this end version {}",
                            doing, reply.version, protocol::kVersion));
  }
  if (reply.authentication != protocol::Authentication::none) {
    throw Error(
        fmt::format("cannot {}: it asks for authentication, which this version lacks", doing));
  }
}

std::vector<protocol::ExportInfo> RdmaSession::list() {
  std::vector<protocol::ExportInfo> exports;
  protocol::List request;
  for (int page = 0; page < kMaxListPages; ++page) {
    auto reply =
        admin_->ask<protocol::ListReply>(fmt::format("list the exports of {}", target_.text()),
                                         MessageType::list, request, deadline());
    exports.insert(exports.end(), reply.exports.begin(), reply.exports.end());
    if (!reply.more) return exports;
    request.after = exports.back().name;
  }
  throw Error(
      fmt::format("cannot list the exports of {}: there is no end to them", target_.text()));
}

std::unique_ptr<RemoteImage> RdmaSession::attach(const std::string& name,
                                                 const AttachOptions& options) {
  protocol::Attach request;
  request.name = name;
  request.access = options.access;
  request.queues = static_cast<std::uint16_t>(options.queues);
  request.depth = options.depth;
  request.max_io = options.max_io;
  const std::string uri = Uri{target_, name}.text();
  auto reply = admin_->ask<protocol::AttachReply>(fmt::format("attach {}", uri),
                                                  MessageType::attach, request, deadline());
  return make_image(*this, uri, std::move(reply));
}

std::unique_ptr<Link> RdmaSession::open_link() {
  auto link = std::make_unique<Link>(loop_, address_, deadline());
  if (link->device() != device()) {
    throw ConnectError(fmt::format(
        "cannot connect to {}: the way there leads over RDMA device {} now, "
        "and the session over {}",
        address_.text(), verbs::device_name(link->device()), verbs::device_name(device())));
  }
  links_.push_back(link.get());
  link->on_destroyed([this, raw = link.get()] { std::erase(links_, raw); });
  return link;
}

void RdmaSession::end_links() noexcept {
  for (Link* link : links_) link->disconnect();
}

void RdmaSession::detach(std::uint64_t attachment) noexcept {
  loop_.stop();  // whoever detaches is through with it
  if (admin_->lost()) return;
  try {
    admin_->tell("detach", MessageType::detach, protocol::Detach{attachment}, deadline());
  } catch (const Error& error) {
    spdlog::debug("{}", error.what());  // the target forgets it with the session
  }
}

}  // namespace rdmablk::initiator
