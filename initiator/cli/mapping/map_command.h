#pragma once

#include <string>
#include <vector>

#include "initiator/cli/command.h"
#include "initiator/cli/mapping/map_place.h"
#include "initiator/cli/mapping/map_record.h"
#include "initiator/cli/mapping/maptab.h"

namespace rdmablk::cli::mapping {

/// `rdmablk map`: makes an export a block device, or several, and shows those that there are.
class MapCommand final : public Command {
 public:
  explicit MapCommand(CLI::App& parent);
  int run() override;

 private:
  void check() const;
  int map() const;
  int map_all() const;
  int list() const;
  int refresh() const;
  Maptab maptab() const;
  void print(const MapRecord& record) const;

  MapRoots roots_;
  std::string what_;
  std::string name_;
  std::vector<std::string> options_;
  std::string maptab_ = kMaptab;
  bool all_ = false;
  bool list_ = false;
  bool refresh_ = false;
};

}  // namespace rdmablk::cli::mapping
