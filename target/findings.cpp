#include "target/findings.h"

#include "common/error.h"

namespace rdmablk::target {

void Findings::attempt(const std::function<std::string()>& look, Kind if_not) {
  try {
    add(Kind::fine, look());
  } catch (const Error& error) {
    add(if_not, error.what());
  }
}

}  // namespace rdmablk::target
