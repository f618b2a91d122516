#pragma once

#include <functional>
#include <string>

#include "target/admin_request.h"
#include "target/administration.h"
#include "target/export_keeper.h"
#include "target/target_facts.h"

namespace rdmablk::target {

/// Does what administrators ask for. On the control thread; nothing blocks but writing a small
/// file.
class AdminService {
 public:
  /// @param administration, facts, keeper outlive the service, and whatever it has begun.
  /// @param keeper where exports are kept that are to be there at the next start; null: nowhere.
  AdminService(Administration& administration, const TargetFacts& facts, ExportKeeper* keeper)
      : administration_(administration), facts_(facts), keeper_(keeper) {}
  AdminService(const AdminService&) = delete;
  AdminService& operator=(const AdminService&) = delete;

  /// Is given the reply, a line without its end. Once, maybe from within the call.
  using Answer = std::function<void(std::string reply)>;

  /// Starts what is asked for; it is answered when it is done.
  void serve(const AdminRequest& request, Answer answer);

 private:
  struct Dispatch;
  using Done = Administration::Done;

  void add(const ExportAddition& order, const Done& done);
  void take_back(const std::string& name, const std::string& why, const Done& done);
  void remove(const ExportRemoval& order, const Done& done);
  void resize(const ExportResizing& order, const Done& done);
  void evict(const SessionEviction& order, const Done& done);

  Administration& administration_;
  const TargetFacts& facts_;
  ExportKeeper* keeper_;
};

}  // namespace rdmablk::target
