#include "target/attachments.h"

#include <fmt/format.h>

#include <limits>

#include "common/counted.h"
#include "common/error.h"
#include "target/export_identity.h"
#include "target/fencing.h"
#include "target/lease.h"
#include "target/store_grant.h"

namespace rdmablk::target {
namespace {

using protocol::Access;
using protocol::Attach;
using protocol::MessageType;
using protocol::Status;

/// Of a session: those that were ended from this side, and are remembered.
constexpr std::size_t kMaxEnded = 16;

/// Whether it is one that had a lease before and has unfinished business.
bool comes_back(const Attach& request) {
  return request.lease != 0;
}

bool takes_over(const Attach& request) {
  return (request.flags & Attach::kTakeOver) != 0;
}

/// The lease that it needs; null when it needs none.
Lease* lease_for(const Offer& offer, const Attach& request) {
  if (request.access != Access::read_write) return nullptr;
  if (comes_back(request) && !fencing().checks_leases) return nullptr;
  return offer.lease;
}

/// The attachment that has to end for a request that takes over.
std::optional<std::uint64_t> in_the_way(const Offer& offer, const Attach& request) {
  const Lease* const lease = lease_for(offer, request);
  if (lease == nullptr || !takes_over(request) || !lease->is_held() || lease->is_leaving()) {
    return std::nullopt;
  }
  return lease->holder().attachment;
}

Step refuse_attach(std::uint64_t tag, Status status, std::string reason) {
  return target::refuse(MessageType::attach, tag, status, std::move(reason));
}

/// Nobody knows the last holder when the target has been restarted.
Step refuse_fenced(std::uint64_t tag, const Attach& request, const Lease& lease) {
  const bool is_known = !lease.holder().peer.address.empty();
  return refuse_attach(
      tag, Status::fenced,
      fmt::format("the right to write export '{}' was given to another initiator since{}; unmount "
                  "it here, and mount it anew to write again{}",
                  request.name,
                  is_known ? (lease.is_held() ? ": it is " : ": it was last ") + lease.text() : "",
                  lease.is_held() ? ", with --take-over while that one has it" : ""));
}

}  // namespace

/// Who it was comes last: a refusal has room for 128 bytes.
std::string taken_over_by(const std::string& taker) {
  return fmt::format("the export was taken over (--take-over takes it back) by {}", taker);
}

Step Attachments::attach(std::uint64_t tag, const Attach& request, const Offer& offer) {
  if (auto step = decide({tag, request, &offer})) return std::move(*step);
  if (waiting_.size() >= protocol::kAdminCredits) {
    return refuse_attach(tag, Status::limit, "too many requests to attach wait already");
  }
  const std::uint64_t ticket = ++last_ticket_;
  return wait(ticket, waiting_.emplace(ticket, Wanted{tag, request, &offer}).first->second);
}

Step Attachments::wait(std::uint64_t ticket, const Wanted& wanted) {
  const Offer& offer = *wanted.offer;
  Step step;
  if (!offer.is_registered) {
    step.registers = RegistrationWait{ticket, offer.info.name};
    return step;
  }
  step.waits = LeaseWait{ticket, offer.lease, takes_over(wanted.request)};
  step.fences = in_the_way(offer, wanted.request);
  return step;
}

Step Attachments::go_on(std::uint64_t ticket) {
  const auto found = waiting_.find(ticket);
  if (found == waiting_.end()) return {};
  if (auto step = decide(found->second)) {
    waiting_.erase(found);
    return std::move(*step);
  }
  return wait(ticket, found->second);
}

Step Attachments::refuse(std::uint64_t ticket, Status status, const std::string& reason) {
  const auto found = waiting_.find(ticket);
  if (found == waiting_.end()) return {};
  const std::uint64_t tag = found->second.tag;
  waiting_.erase(found);
  return refuse_attach(tag, status, reason);
}

Step Attachments::retry(std::uint64_t ticket) {
  const auto found = waiting_.find(ticket);
  if (found == waiting_.end()) return {};
  if (auto step = decide(found->second)) {
    waiting_.erase(found);
    return std::move(*step);
  }
  Step step;
  step.fences = in_the_way(*found->second.offer, found->second.request);
  return step;
}

Step Attachments::give_up(std::uint64_t ticket) {
  const auto found = waiting_.find(ticket);
  if (found == waiting_.end()) return {};
  const auto [tag, request, offer] = std::move(found->second);
  waiting_.erase(found);
  const Lease& lease = *offer->lease;
  if (lease.is_leaving()) {
    return refuse_attach(tag, Status::busy,
                         fmt::format("export '{}' was {}, who is gone, but whose last writes have "
                                     "not reached the file yet; try again",
                                     request.name, lease.text()));
  }
  return refuse_attach(tag, Status::busy,
                       fmt::format("export '{}' is {}: attach it for reading (mount -o ro), or "
                                   "take it over (--take-over), which ends that writer",
                                   request.name, lease.text()));
}

/// @return nothing when it has to wait, for its lease or for the export to be registered.
std::optional<Step> Attachments::decide(Wanted wanted) {
  if (auto refusal = refuse_content(wanted)) return refusal;
  if (attachments_.size() >= limits_.attachments ||
      last_attachment_ == std::numeric_limits<std::uint32_t>::max()) {
    return refuse_attach(wanted.tag, Status::limit,
                         fmt::format("this session has {}, no more are possible",
                                     counted(attachments_.size(), "attachment")));
  }
  if (!wanted.offer->is_registered) return std::nullopt;
  const Lease* const lease = lease_for(*wanted.offer, wanted.request);
  if (lease != nullptr && lease->is_held()) {
    if (!comes_back(wanted.request) || lease->is_leaving()) return std::nullopt;
    return refuse_fenced(wanted.tag, wanted.request, *lease);
  }
  return grant(std::move(wanted));
}

/// What is not what it was, and what was given to another. In this order: new content has new
/// leases, and "given to another" would be the wrong reason.
std::optional<Step> Attachments::refuse_content(const Wanted& wanted) const {
  const auto& [tag, request, offer] = wanted;
  const bool any_will_do = request.generation == protocol::Generation{};
  if (!any_will_do && request.generation != offer->identity->generation()) {
    return refuse_attach(
        tag, Status::stale,
        fmt::format("the content of export '{}' is not what it was", request.name));
  }
  const Lease* const lease = lease_for(*offer, request);
  if (lease == nullptr || !comes_back(request)) return std::nullopt;
  if (request.lease == lease->number() && lease->may_renew(peer_)) return std::nullopt;
  return refuse_fenced(tag, request, *lease);
}

Step Attachments::grant(Wanted wanted) {
  auto& [tag, request, offer] = wanted;
  std::shared_ptr<StoreUse> use;
  if (offer->is_served(request.access)) {
    use = grant_store(*offer, request, limits_,
                      budgets_ != nullptr ? &budgets_->of(peer_.account()) : nullptr);
    if (!use) {
      return refuse_attach(tag, Status::limit,
                           "the target's memory for I/O queues of file exports is used up, or what "
                           "this client may use of it; the target's administrator may raise "
                           "--slot-memory and --client-slot-memory");
    }
  }
  const std::uint64_t id = (std::uint64_t{session_} << 32U) | (last_attachment_ + 1);
  std::shared_ptr<LeaseHold> lease;
  try {
    lease = take_lease(wanted, id);
  } catch (const Error& error) {
    offer->lease->report(fmt::format("cannot grant a lease: {}", error.what()));
    return refuse_attach(tag, Status::internal,
                         "the target cannot keep the number of a lease; its log says why");
  }
  ++last_attachment_;
  const Attachment& made =
      attachments_
          .emplace(id, Attachment(id, *offer, request, limits_, std::move(use), std::move(lease),
                                  session_key_ ? &*session_key_ : nullptr))
          .first->second;
  Step step = answer(MessageType::attach, tag, made.reply());
  step.attached = &made;
  return step;
}

/// The last that can fail: a number that is given fences everybody who had one before.
std::shared_ptr<LeaseHold> Attachments::take_lease(const Wanted& wanted,
                                                   std::uint64_t attachment) const {
  Lease* const lease = lease_for(*wanted.offer, wanted.request);
  if (lease == nullptr) return nullptr;
  const Lease::Holder holder{attachment, peer_};
  return comes_back(wanted.request) ? lease->renew(holder) : lease->grant(holder);
}

bool Attachments::end(std::uint64_t attachment, const std::string& reason) {
  const auto found = attachments_.find(attachment);
  if (found == attachments_.end()) return false;
  if (!reason.empty()) {
    if (ended_.size() >= kMaxEnded) ended_.erase(ended_.begin());
    ended_.emplace(attachment, Ended{found->second.credential(), reason});
  }
  attachments_.erase(found);
  return true;
}

Attachments::Ending Attachments::end_all(const Concerns& concerns, Status status,
                                         const std::string& reason) {
  Ending ending;
  for (const auto& [id, attachment] : attachments_) {
    if (concerns(attachment.offer(), attachment.reply().access)) ending.attachments.push_back(id);
  }
  for (const std::uint64_t id : ending.attachments) end(id, reason);
  for (auto next = waiting_.begin(); next != waiting_.end();) {
    const auto waiting = next++;
    const auto& [tag, request, offer] = waiting->second;
    if (!concerns(*offer, request.access)) continue;
    ending.answers.push_back({waiting->first, refuse_attach(tag, status, reason)});
    waiting_.erase(waiting);
  }
  return ending;
}

protocol::QueueRefusal Attachments::absence(std::uint64_t attachment) const {
  const auto found = ended_.find(attachment);
  return {Status::no_attachment,
          found == ended_.end() ? "there is no such attachment" : found->second.reason};
}

std::vector<std::uint64_t> Attachments::of_export(std::string_view name) const {
  std::vector<std::uint64_t> found;
  for (const auto& [id, attachment] : attachments_) {
    if (attachment.reply().info.name == name) found.push_back(id);
  }
  return found;
}

Attachment* Attachments::find(std::uint64_t attachment) {
  const auto found = attachments_.find(attachment);
  return found == attachments_.end() ? nullptr : &found->second;
}

void Attachments::clear() noexcept {
  attachments_.clear();
  waiting_.clear();
}

std::variant<const Attachment*, protocol::QueueRefusal> Attachments::admit(
    const protocol::QueueRequest& request) {
  const auto found = attachments_.find(request.attachment);
  if (found == attachments_.end()) {
    const auto ended = ended_.find(request.attachment);
    const bool was_theirs = ended != ended_.end() && ended->second.credential.fits(request);
    return was_theirs ? absence(request.attachment) : refuse_unproved();
  }
  if (auto refusal = found->second.admit(request)) return std::move(*refusal);
  return &found->second;
}

std::vector<ReportedUse> Attachments::take(const protocol::UseReport& report) {
  std::vector<ReportedUse> uses;
  for (const protocol::AttachmentUse& entry : report.entries) {
    const auto found = attachments_.find(entry.attachment);
    if (found == attachments_.end()) continue;
    Attachment& attachment = found->second;
    uses.push_back({attachment.reply().info.name, attachment.report(entry.use)});
  }
  return uses;
}

}  // namespace rdmablk::target
