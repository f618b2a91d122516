#include "initiator/rdma_session.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "common/auth/queue_proof.h"
#include "common/random.h"
#include "common/thread_log.h"
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

/// Each once.
std::vector<HostPort> all_places(const HostPort& first, const std::vector<HostPort>& others) {
  std::vector<HostPort> places{first};
  for (const HostPort& place : others) {
    if (std::ranges::find(places, place) == places.end()) places.push_back(place);
  }
  return places;
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
      paths_(all_places(target, options.paths)),
      keeper_(*this),
      device_keeper_(*this),
      recovery_(*this) {
  patiently([this] { open(); });
}

RdmaSession::~RdmaSession() {
  loop_.stop();
}

std::uint32_t RdmaSession::random_seed() {
  return std::bit_cast<std::uint32_t>(random_bytes<std::array<std::byte, 4>>());
}

void RdmaSession::start() {
  loop_.start([this] {
    keeper_.start();
    recovery_.run();
  });
}

void RdmaSession::set_recovery(const RecoveryOptions& options) {
  condition_.set_options(options);
  wake_.signal();
}

/// Tries the paths in turn, those first that are known to work.
void RdmaSession::open() {
  const auto order = paths_.for_admin();
  for (const std::size_t path : order) {
    if (open(path, path == order.back())) return;
  }
}

/// @return whether it is open now; throws instead where no other path would make a difference. That
/// it was connected proves nothing yet: by TCP, those words may go another way than RDMA does.
bool RdmaSession::open(std::size_t path, bool is_last) {
  try {
    connect(path);
    say_hello();
  } catch (const Error& error) {
    const bool is_path_to_blame = !admin_ || (admin_->lost() && admin_->is_path_to_blame());
    admin_.reset();
    if (is_path_to_blame) keeper_.failed(path, error.what());
    if (is_last || !is_path_to_blame) throw;
    return false;
  } catch (...) {
    admin_.reset();
    throw;
  }
  keeper_.works(path);
  is_open_ = true;
  return true;
}

/// Tries the addresses of a path in turn, each of them for its share of the time.
void RdmaSession::connect(std::size_t path) {
  const auto end = deadline();
  for (std::size_t left = paths_.addresses(path); left > 0; --left) {
    const auto now = ControlLoop::Clock::now();
    try {
      admin_ = std::make_unique<AdminLink>(loop_, paths_.address(path),
                                           now + (end - now) / static_cast<int>(left));
      break;
    } catch (const ConnectError&) {
      paths_.skip_address(path);
      if (left == 1) throw;
    }
  }
  ibv_context* const context = admin_->device();
  try {
    device_ = devices_.use(context);
  } catch (...) {
    admin_.reset();
    throw;
  }
  paths_.set_device(path, device_->name());
  paths_.set_admin(path);
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
  note_features();
  if (features_.has(protocol::Feature::counters)) {
    admin_->report_with([this] { return use_report(); });
  }
  const auto keepalive = std::chrono::milliseconds(greeting.reply.keepalive_ms);
  if (keepalive.count() > 0) admin_->keep_alive(keepalive);
}

void RdmaSession::note_features() {
  if (paths_.count() == 1 || spreads_queues() || std::exchange(has_told_of_one_path_, true)) return;
  thread_log().warn(
      "{} knows of one path at a time: all queues go the same way, and another way when that "
      "fails; "
      "a newer rdmablk-target spreads them",
      target_.text());
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

std::vector<std::size_t> RdmaSession::paths_for(unsigned queue) const {
  if (!spreads_queues()) return {paths_.admin()};
  auto order = paths_.for_queue(queue);
  if (order.empty()) order.push_back(paths_.admin());
  return order;
}

Way RdmaSession::open_way(std::size_t path) {
  Way way;
  way.link = std::make_unique<Link>(loop_, paths_.address(path), deadline());
  Link* const link = way.link.get();
  ibv_context* const context = link->device();
  links_.push_back({link, path});
  link->on_destroyed(
      [this, link] { std::erase_if(links_, [&](const OpenLink& o) { return o.link == link; }); });
  way.use.device = devices_.use(context);
  way.use.count = paths_.count_for(path);
  paths_.set_device(path, way.use.device->name());
  return way;
}

void RdmaSession::end_links(std::size_t path, const std::string& why) {
  for (const OpenLink& open : links_) {
    if (open.path == path) open.link->end(why);
  }
  for (const AttachedImage* const image : images_) image->tell_queues();
  if (path == paths_.admin() && is_open_) lose(why);
}

std::weak_ptr<SessionDevice> RdmaSession::drop_device(const ibv_context* device,
                                                      const std::string& why) {
  for (const OpenLink& open : links_) {
    if (open.link->device() == device) open.link->end(why);
  }
  for (const AttachedImage* const image : images_) image->tell_queues();
  keeper_.device_gone(device, why);
  if (admin_ && admin_->device() == device) admin_->lose(why);
  return devices_.drop(device);
}

bool RdmaSession::is_over(const ibv_context* device) const noexcept {
  return (admin_ && admin_->device() == device) ||
         std::ranges::any_of(links_, [&](const OpenLink& o) { return o.link->device() == device; });
}

protocol::ChunkTable RdmaSession::ask_for_table(const std::string& uri,
                                                const protocol::Table& request) {
  return admin_
      ->ask<protocol::TableReply>(fmt::format("find the chunk table of {}", uri),
                                  MessageType::table, request, deadline())
      .table;
}

protocol::Token RdmaSession::prove(const protocol::QueueRequest& request,
                                   const protocol::Token& token) const {
  return session_key_ ? auth::queue_proof(*session_key_, request) : token;
}

std::string RdmaSession::end() noexcept {
  std::string reason = admin_->lost_reason();
  is_open_ = false;
  for (AttachedImage* const image : images_) image->attached().forget();
  for (const OpenLink& open : links_) open.link->end(reason);
  admin_.reset();
  device_.reset();
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
