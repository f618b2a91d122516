#include "initiator/rdma_session.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>

#include "common/auth/queue_proof.h"
#include "common/random.h"
#include "common/thread_log.h"
#include "common/verbs/context.h"
#include "initiator/authentication.h"
#include "initiator/file_image.h"
#include "initiator/memory_image.h"
#include "initiator/resident_image.h"

namespace rdmablk::initiator {
namespace {

using protocol::MessageType;

/// Pages of a list; a target that promises more for ever is not believed.
constexpr int kMaxListPages = 4096;

/// How long the answer to DETACH is waited for: the target learns of the end anyway.
constexpr std::chrono::milliseconds kDetachPatience{2000};

/// The image that suits what was attached.
std::unique_ptr<RemoteImage> make_image(std::unique_ptr<Attachment> attachment) {
  using protocol::ExportKind;
  const ExportKind kind = attachment->reply().info.kind;
  if (kind == ExportKind::file) return std::make_unique<FileImage>(std::move(attachment));
  if (kind == ExportKind::resident && !attachment->is_read_only()) {
    return std::make_unique<ResidentImage>(std::move(attachment));
  }
  return std::make_unique<MemoryImage>(std::move(attachment));
}

}  // namespace

std::unique_ptr<Session> Session::connect(const HostPort& target, const SessionOptions& options) {
  return std::make_unique<RdmaSession>(target, options);
}

RdmaSession::RdmaSession(const HostPort& target, const SessionOptions& options)
    : loop_(options.method, options.connections),
      target_(target),
      timeout_(options.timeout),
      credentials_(options.credentials),
      offered_features_(options.features),
      condition_(options.recovery),
      instance_(random_bytes<protocol::InstanceId>()),
      addresses_(resolve(target)),
      recovery_(*this) {
  patiently([this] { open(); });
  device_ = admin_->device();
  buffers_domain_ = std::make_unique<verbs::ProtectionDomain>(device_);
}

RdmaSession::~RdmaSession() {
  loop_.stop();
}

std::uint32_t RdmaSession::random_seed() {
  return std::bit_cast<std::uint32_t>(random_bytes<std::array<std::byte, 4>>());
}

void RdmaSession::start() {
  loop_.start([this] { recovery_.run(); });
}

void RdmaSession::set_recovery(const RecoveryOptions& options) {
  condition_.set_options(options);
  wake_.signal();
}

void RdmaSession::open() {
  connect();
  try {
    say_hello();
  } catch (...) {
    admin_.reset();
    throw;
  }
  is_open_ = true;
}

/// Tries the target's addresses in turn, the one that answered last first. Each has its share of
/// the time that is left: one that is dead must not take it all.
void RdmaSession::connect() {
  const auto end = deadline();
  for (auto address = addresses_.begin(); address != addresses_.end(); ++address) {
    const auto now = ControlLoop::Clock::now();
    const auto share = (end - now) / std::distance(address, addresses_.end());
    try {
      admin_ = std::make_unique<AdminLink>(loop_, *address, now + share);
      address_ = *address;
      std::rotate(addresses_.begin(), address, std::next(address));
      return;
    } catch (const ConnectError&) {
      if (std::next(address) == addresses_.end()) throw;
    }
  }
}

void RdmaSession::say_hello() {
  protocol::Hello hello;
  hello.instance = instance_;
  hello.features = offered_features_;
  hello.version_min = protocol::kVersion;
  hello.version_max = protocol::kVersion;
  const std::string doing = fmt::format("open a session with {}", target_.text());
  if (credentials_) credentials_->refresh();
  const auto greeting =
      greet(*admin_, doing, hello, credentials_ ? &*credentials_ : nullptr, deadline());
  session_key_ = greeting.session_key;
  features_ = offered_features_.common_with(greeting.reply.features);
  if (features_.has(protocol::Feature::counters)) {
    admin_->report_with([this] { return use_report(); });
  }
  const auto keepalive = std::chrono::milliseconds(greeting.reply.keepalive_ms);
  if (keepalive.count() > 0) admin_->keep_alive(keepalive);
}

protocol::UseReport RdmaSession::use_report() const {
  protocol::UseReport report;
  for (AttachedImage* const image : images_) {
    if (report.entries.size() == protocol::UseReport::kMaxEntries) break;
    if (const auto use = image->next_report()) report.entries.push_back(*use);
  }
  return report;
}

void RdmaSession::report_use() noexcept {
  if (!is_open_ || admin_->lost()) return;
  try {
    admin_->report();
  } catch (const std::exception& error) {
    thread_log().debug("cannot report to the target: {}", error.what());
  }
}

std::vector<protocol::ExportInfo> RdmaSession::list() {
  std::vector<protocol::ExportInfo> exports;
  protocol::List request;
  const auto end = deadline();
  for (int page = 0; page < kMaxListPages; ++page) {
    auto reply = admin_->ask<protocol::ListReply>(
        fmt::format("list the exports of {}", target_.text()), MessageType::list, request, end);
    exports.insert(exports.end(), reply.exports.begin(), reply.exports.end());
    if (!reply.more) return exports;
    request.after = exports.back().name;
  }
  throw Error(
      fmt::format("cannot list the exports of {}: there is no end to them", target_.text()));
}

std::unique_ptr<RemoteImage> RdmaSession::attach(const std::string& name,
                                                 const AttachOptions& options) {
  return make_image(std::make_unique<Attachment>(*this, name, options));
}

protocol::AttachReply RdmaSession::ask_to_attach(const std::string& uri,
                                                 const protocol::Attach& request) {
  return admin_->ask<protocol::AttachReply>(fmt::format("attach {}", uri), MessageType::attach,
                                            request, deadline());
}

std::unique_ptr<Link> RdmaSession::open_link() {
  auto link = std::make_unique<Link>(loop_, address_, deadline());
  if (link->device() != device_) {
    throw ConnectError(fmt::format(
        "cannot connect to {}: the way there leads over RDMA device {} now, "
        "and the session over {}",
        address_.text(), verbs::device_name(link->device()), verbs::device_name(device_)));
  }
  links_.push_back(link.get());
  link->on_destroyed([this, raw = link.get()] { std::erase(links_, raw); });
  return link;
}

protocol::Token RdmaSession::prove(const protocol::QueueRequest& request,
                                   const protocol::Token& token) const {
  return session_key_ ? auth::queue_proof(*session_key_, request) : token;
}

std::string RdmaSession::end() noexcept {
  std::string reason = admin_->lost_reason();
  is_open_ = false;
  for (AttachedImage* const image : images_) image->attached().forget();
  for (Link* const link : links_) link->end(reason);
  admin_.reset();
  return reason;
}

void RdmaSession::detach(std::uint64_t attachment) noexcept {
  loop_.stop();  // whoever detaches is through with it
  if (attachment == 0 || !is_open_ || admin_->lost()) return;
  try {
    admin_->tell("detach", MessageType::detach, protocol::Detach{attachment},
                 ControlLoop::Clock::now() + std::min(timeout_, kDetachPatience));
  } catch (const Error& error) {
    thread_log().debug("{}", error.what());  // the target forgets it with the session
  }
}

}  // namespace rdmablk::initiator
