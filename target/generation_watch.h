#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "common/protocol/messages.h"
#include "target/administration.h"

namespace rdmablk::target {

/// Counts how often exports got another generation, as far as somebody looks. Control thread.
class GenerationWatch {
 public:
  void look(const std::vector<ExportStatus>& exports);

  /// Of each export that there is.
  std::map<std::string, std::uint64_t> changes() const;

 private:
  struct Seen {
    protocol::Generation generation{};
    std::uint64_t changes = 0;
  };

  std::map<std::string, Seen> seen_;
};

}  // namespace rdmablk::target
