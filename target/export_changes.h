#pragma once

#include <asio/io_context.hpp>
#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>

#include "common/lifetime.h"
#include "target/administration.h"
#include "target/background.h"
#include "target/cancellation.h"
#include "target/export_set_up.h"
#include "target/exports.h"

namespace rdmablk::target {

/// How exports come to a running target, and leave it. What blocks is done on other threads; one is
/// made at a time, any number leave at a time. Used by the control thread.
class ExportChanges {
 public:
  using Done = Administration::Done;

  /// Ends the attachments of an export that is offered no more, and tells those who wait for one.
  using EndUsers = std::function<void(const Export&)>;

  /// @param io, exports outlive this.
  ExportChanges(asio::io_context& io, Exports& exports, EndUsers end_users);
  ExportChanges(const ExportChanges&) = delete;
  ExportChanges& operator=(const ExportChanges&) = delete;

  /// Makes an export as at the start, and offers it. A failure leaves nothing of it.
  void add(const ExportSpec& spec, Done done);

  /// Offers an export no more, has its users ended, waits until all that they have begun is
  /// through, brings its data to its file, and forgets it. When that fails it is offered again.
  void remove(const std::string& name, const RemoveOptions& options, Done done);

  /// Has an export be as if another had asked for it: what was to last as long as this process may
  /// be for good then, and the service manager keeps its memory.
  void adopt(const std::string& name, ExportOrigin origin, Done done);

  /// Whether an export is being removed.
  bool is_leaving(const Export& exported) const noexcept;

  /// Whether nothing is under way.
  bool is_idle() const noexcept {
    return additions_.empty() && removals_.empty() && adoptions_.empty();
  }

  /// The target ends: nothing new is begun, and what is being made is given up.
  void stop();

  /// Runs the event loop until nothing is under way. Behind stop(), when no session is left.
  void finish();

 private:
  struct Addition {
    ExportOrder order;
    Done done;
    std::unique_ptr<StateDirectory> state;  ///< opened for it, if it is the first that needs one
    std::unique_ptr<Export> made;
    std::string failure;
    bool is_numbered = false;
  };
  struct Removal {
    Export* exported = nullptr;  ///< null once it is taken out
    std::string name;
    Done done;
    bool is_settled = false;
    std::unique_ptr<Export> taken;  ///< out of the exports, to be destroyed
  };
  using Removals = std::list<Removal>;
  struct Adoption {
    Export* exported = nullptr;
    Done done;
    std::optional<std::string> failure;
  };

  std::optional<std::string> reason_against(const std::string& name) const;
  std::optional<std::string> reason_against(Export& exported, const RemoveOptions& options) const;

  bool is_being_adopted(const Export& exported) const noexcept;

  void begin_addition();
  void make(Addition& addition, const std::vector<ExportSpec>& others, const ExportGround& ground);
  void on_made();
  void put_on_rings();
  void keep_and_begin();
  void on_begun();
  void drop(std::string failure);
  void destroy_dropped();
  void end_addition(std::optional<std::string> failure);

  void settle(Removals::iterator removal);
  void on_settled(Removals::iterator removal);
  void destroy(Removals::iterator removal);
  void end_removal(Removals::iterator removal, std::optional<std::string> failure);

  asio::io_context& io_;
  Exports& exports_;
  EndUsers end_users_;
  Cancellation cancellation_;
  std::deque<Addition> additions_;  ///< the first one is under way
  Removals removals_;
  std::list<Adoption> adoptions_;
  Lifetime lifetime_;
  Background background_;  // ends before what it works on
};

}  // namespace rdmablk::target
