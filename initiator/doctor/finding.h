#pragma once

#include <string>
#include <vector>

namespace rdmablk::doctor {

enum class Verdict {
  ok,
  warning,  ///< works, and not as well as it could, or not for everybody
  failure,  ///< does not work
  skipped,  ///< was not looked at, or is of no use here
};

/// "ok", "warning", "failure", "skipped".
const char* verdict_name(Verdict verdict) noexcept;

/// What a check has found.
struct Finding {
  std::string check;  ///< its name: "memlock"
  Verdict verdict = Verdict::ok;
  std::string found;     ///< what is there
  std::string advice{};  ///< what to do; empty: nothing
};

using Findings = std::vector<Finding>;

inline Finding good(std::string check, std::string found) {
  return {std::move(check), Verdict::ok, std::move(found)};
}
inline Finding skipped(std::string check, std::string why) {
  return {std::move(check), Verdict::skipped, std::move(why)};
}
inline Finding warning(std::string check, std::string found, std::string advice) {
  return {std::move(check), Verdict::warning, std::move(found), std::move(advice)};
}
inline Finding failure(std::string check, std::string found, std::string advice) {
  return {std::move(check), Verdict::failure, std::move(found), std::move(advice)};
}

}  // namespace rdmablk::doctor
