#include "target/client_reports.h"

namespace rdmablk::target {

void ClientReports::add(const std::string& export_name, const std::string& client,
                        const protocol::Use& use) {
  auto found = all_.find({export_name, client});
  if (found == all_.end() && all_.size() < kMaxEntries) {
    found = all_.try_emplace({export_name, client}).first;
  }
  if (found == all_.end()) {
    found = all_.find({export_name, kOthers});
    if (found == all_.end()) {
      if (all_.size() >= 2 * kMaxEntries) return;
      found = all_.try_emplace({export_name, kOthers}).first;
    }
  }
  found->second += use;
}

protocol::Use ClientReports::of_export(const std::string& name) const {
  protocol::Use sum;
  for (auto one = all_.lower_bound({name, ""}); one != all_.end() && one->first.first == name;
       ++one) {
    sum += one->second;
  }
  return sum;
}

void ClientReports::keep_if(const std::function<bool(const std::string&)>& is_there) {
  std::erase_if(all_, [&](const auto& entry) { return !is_there(entry.first.first); });
}

}  // namespace rdmablk::target
