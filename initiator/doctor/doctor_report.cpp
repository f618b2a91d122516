#include "initiator/doctor/doctor_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "common/counted.h"

namespace rdmablk::doctor {
namespace {

std::uint64_t count(const Findings& findings, Verdict verdict) {
  return static_cast<std::uint64_t>(
      std::count_if(findings.begin(), findings.end(),
                    [verdict](const Finding& finding) { return finding.verdict == verdict; }));
}

std::string sum(const Findings& findings) {
  const auto warnings = count(findings, Verdict::warning);
  const auto failures = count(findings, Verdict::failure);
  return fmt::format("{}: {} ok, {} skipped, {}, {}\n", counted(findings.size(), "check"),
                     count(findings, Verdict::ok), count(findings, Verdict::skipped),
                     counted(warnings, "warning"), counted(failures, "failure"));
}

}  // namespace

bool is_well(const Findings& findings) {
  return count(findings, Verdict::failure) == 0;
}

std::string doctor_text(const Findings& findings) {
  std::size_t width = 0;
  for (const Finding& finding : findings) width = std::max(width, finding.check.size());
  std::string text;
  const auto out = std::back_inserter(text);
  for (const Finding& finding : findings) {
    fmt::format_to(out, "{:<8}{:<{}}  {}\n", verdict_name(finding.verdict), finding.check, width,
                   finding.found);
    if (!finding.advice.empty()) fmt::format_to(out, "        -> {}\n", finding.advice);
  }
  return text + sum(findings);
}

cli::Json doctor_json(const std::optional<HostPort>& target, const Findings& findings) {
  cli::Json document = cli::new_document();
  document["target"] = target ? cli::Json(target->text()) : cli::Json();
  document["healthy"] = is_well(findings);
  document["checks"] = cli::Json::array();
  for (const Finding& finding : findings) {
    document["checks"].push_back(
        {{"check", finding.check},
         {"verdict", verdict_name(finding.verdict)},
         {"found", finding.found},
         {"advice", finding.advice.empty() ? cli::Json() : cli::Json(finding.advice)}});
  }
  return document;
}

}  // namespace rdmablk::doctor
