#include "target/admin_service.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "common/error.h"
#include "common/units.h"
#include "target/admin_reply.h"

namespace rdmablk::target {
namespace {

using Change = ExportResizing::Change;

constexpr auto kMaxSize = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());

std::optional<ExportStatus> find(const Administration& administration, const std::string& name) {
  const auto exports = administration.exports();
  const auto found = std::find_if(exports.begin(), exports.end(),
                                  [&](const ExportStatus& one) { return one.spec.name == name; });
  return found == exports.end() ? std::nullopt : std::optional(*found);
}

std::string no_such(const std::string& name) {
  return fmt::format("there is no export '{}'; `rdmablk export ls` shows those that there are",
                     name);
}

/// The size that is asked for. Throws Error when there is no such size.
std::uint64_t wanted_size(const ExportResizing& order, std::uint64_t size) {
  if (order.change == Change::to) return order.bytes;
  if (order.change == Change::by_more) {
    if (order.bytes <= kMaxSize && size <= kMaxSize - order.bytes) return size + order.bytes;
    throw Error(fmt::format("export '{}' cannot become that large", order.name));
  }
  if (order.bytes < size) return size - order.bytes;
  throw Error(fmt::format("export '{}' is of {}: {} cannot be taken off it", order.name,
                          format_size(size), format_size(order.bytes)));
}

/// As it would be asked for with that size. A file that none was given for has the one that it has.
ExportSpec resized(ExportSpec spec, std::uint64_t size) {
  if (spec.file_size) spec.file_size = size;
  if (!spec.has_file()) spec.size = size;
  return spec;
}

/// Tells `done` that a change was made, after it was noted in the configuration.
/// @param but what is the case when it could not be noted.
template <typename Note>
Administration::Done then_note(const std::string& but, Note note,
                               const Administration::Done& done) {
  return [but, note = std::move(note), done](const std::optional<std::string>& failure) {
    if (failure) return done(failure);
    try {
      note();
    } catch (const Error& error) {
      return done(fmt::format("{}: {}", but, error.what()));
    }
    done(std::nullopt);
  };
}

}  // namespace

/// Hands an order to what does it. A member of it is called by std::visit.
struct AdminService::Dispatch {
  AdminService& service;
  const std::string& id;
  const Answer& answer;

  Done done() const {
    return [id = id, answer = answer](const std::optional<std::string>& failure) {
      answer(failure ? error_reply(id, *failure) : done_reply(id));
    };
  }

  void operator()(const StatusQuery& /*order*/) const {
    const Administration& administration = service.administration_;
    answer(status_reply(id, service.facts_, administration.counts(), administration.exports(),
                        std::chrono::steady_clock::now()));
  }
  void operator()(const ExportsQuery& /*order*/) const {
    answer(exports_reply(id, service.administration_.exports()));
  }
  void operator()(const SessionsQuery& /*order*/) const {
    answer(sessions_reply(id, service.administration_.sessions()));
  }
  void operator()(const ExportAddition& order) const { service.add(order, done()); }
  void operator()(const ExportRemoval& order) const { service.remove(order, done()); }
  void operator()(const ExportResizing& order) const { service.resize(order, done()); }
  void operator()(const SessionEviction& order) const { service.evict(order, done()); }
  void operator()(const ReloadOrder& /*order*/) const { service.administration_.reload(done()); }
};

void AdminService::serve(const AdminRequest& request, Answer answer) {
  try {
    std::visit(Dispatch{*this, request.id, answer}, request.order);
  } catch (const Error& error) {
    answer(error_reply(request.id, error.what()));
  }
}

void AdminService::add(const ExportAddition& order, const Done& done) {
  const std::string& name = order.spec.name;
  if (order.run_time) {
    return administration_.add_export(order.spec, ExportOrigin::run_time, done);
  }
  if (keeper_ == nullptr) {
    throw Error(fmt::format(
        "export '{}' cannot be kept for the next start, as this target was started without "
        "--config: ask for it with --runtime, which lasts as long as the target runs",
        name));
  }
  if (find(administration_, name)) {
    throw Error(fmt::format("there is an export '{}' already", name));
  }
  administration_.add_export(
      order.spec, ExportOrigin::configuration,
      [this, spec = order.spec, done](const std::optional<std::string>& failure) {
        if (failure) return done(failure);
        try {
          keeper_->keep(spec);
        } catch (const Error& error) {
          return take_back(spec.name, error.what(), done);
        }
        done(std::nullopt);
      });
}

/// An export that could not be kept goes again, unless somebody uses it by now.
void AdminService::take_back(const std::string& name, const std::string& why, const Done& done) {
  const auto stays = [=, this](const std::optional<std::string>& failure) {
    if (!failure) {
      return done(fmt::format("export '{}' was not added, as it could not be kept: {}", name, why));
    }
    administration_.adopt_export(name, ExportOrigin::run_time, [=](const auto& /*failure*/) {
      done(fmt::format("export '{}' was added, but as with --runtime, as it could not be kept: {}",
                       name, why));
    });
  };
  administration_.remove_export(name, {}, stays);
}

void AdminService::remove(const ExportRemoval& order, const Done& done) {
  const auto found = find(administration_, order.name);
  if (!found) throw Error(no_such(order.name));
  const bool configured = found->origin == ExportOrigin::configuration && keeper_ != nullptr;
  if (order.run_time || !configured) {
    return administration_.remove_export(order.name, order.options, done);
  }
  if (!keeper_->keeps(order.name)) {
    throw Error(fmt::format(
        "export '{}' is of the configuration file: take it out there, and `rdmablk reload`; "
        "--runtime takes it away until the next reload or start",
        order.name));
  }
  administration_.remove_export(order.name, order.options,
                                then_note(
                                    fmt::format("export '{}' was removed, but only until the "
                                                "next reload or start",
                                                order.name),
                                    [this, name = order.name] { keeper_->forget(name); }, done));
}

void AdminService::resize(const ExportResizing& order, const Done& done) {
  const auto found = find(administration_, order.name);
  if (!found) throw Error(no_such(order.name));
  const std::uint64_t size = wanted_size(order, found->size);
  if (size < found->size && !order.may_shrink) {
    throw Error(fmt::format(
        "export '{}' would become smaller, {} in place of {}, and what lies behind that would be "
        "lost: give --shrink to say that this is meant",
        order.name, format_size(size), format_size(found->size)));
  }
  const bool configured = found->origin == ExportOrigin::configuration && keeper_ != nullptr;
  if (order.run_time || !configured) {
    return administration_.resize_export(order.name, size, done);
  }
  if (!keeper_->keeps(order.name)) {
    throw Error(fmt::format(
        "export '{}' is of the configuration file: change its size there, and `rdmablk reload`; "
        "--runtime resizes it all the same, and leaves the size there as it is",
        order.name));
  }
  administration_.resize_export(
      order.name, size,
      then_note(
          fmt::format("export '{}' was resized, but the configuration has its old size still",
                      order.name),
          [this, spec = resized(found->spec, size)] { keeper_->keep(spec); }, done));
}

void AdminService::evict(const SessionEviction& order, const Done& done) {
  if (administration_.evict(order.session, order.reason)) return done(std::nullopt);
  throw Error(fmt::format("there is no session {}; `rdmablk session ls` shows those that there are",
                          order.session));
}

}  // namespace rdmablk::target
