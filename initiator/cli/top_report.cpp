#include "initiator/cli/top_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "common/seconds.h"
#include "common/units.h"
#include "initiator/cli/text_table.h"

namespace rdmablk::cli {
namespace {

constexpr const char* kNoFigure = "-";

struct Rates {
  double reads = 0;
  double writes = 0;
  double bytes_read = 0;
  double bytes_written = 0;
  std::uint64_t errors = 0;  ///< in all
};

/// Nothing when it does not say, or was not there before.
std::optional<Rates> rates_of(const TopItem& item, const std::vector<TopItem>& before,
                              double seconds) {
  const auto found = std::find_if(before.begin(), before.end(),
                                  [&](const TopItem& one) { return one.name == item.name; });
  if (found == before.end() || !item.use || !found->use || seconds <= 0) return std::nullopt;
  const protocol::Use come = item.use->since(*found->use);
  const auto rate = [seconds](std::uint64_t count) { return static_cast<double>(count) / seconds; };
  return Rates{rate(come.reads), rate(come.writes), rate(come.bytes_read), rate(come.bytes_written),
               item.use->errors};
}

/// "1.2 MiB", as short as can be.
std::string bytes_text(double bytes) {
  constexpr std::array kUnits{"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  std::size_t unit = 0;
  while (bytes >= 1024 && unit + 1 < kUnits.size()) {
    bytes /= 1024;
    ++unit;
  }
  return fmt::format("{:.{}f} {}", bytes, bytes < 10 && unit > 0 ? 1 : 0, kUnits[unit]);
}

std::vector<std::string> row(const TopItem& item, const std::optional<Rates>& rates) {
  const auto optional = [](const std::optional<std::uint64_t>& number) {
    return number ? std::to_string(*number) : kNoFigure;
  };
  std::vector<std::string> cells{item.name, item.state,
                                 item.size ? format_size(*item.size) : kNoFigure};
  if (rates) {
    cells.push_back(bytes_text(rates->bytes_read));
    cells.push_back(bytes_text(rates->bytes_written));
    cells.push_back(fmt::format("{:.0f}", rates->reads));
    cells.push_back(fmt::format("{:.0f}", rates->writes));
  } else {
    cells.insert(cells.end(), 4, kNoFigure);
  }
  cells.push_back(optional(item.in_flight));
  cells.push_back(rates ? std::to_string(rates->errors) : kNoFigure);
  return cells;
}

double seconds_between(const TopSample& before, const TopSample& now) {
  return in_seconds(now.at - before.at);
}

std::string table_of(const char* what, const char* state, const std::vector<TopItem>& before,
                     const std::vector<TopItem>& now, double seconds) {
  TextTable table(
      {what, state, "SIZE", "READ/S", "WRITTEN/S", "READS/S", "WRITES/S", "IN FLIGHT", "ERRORS"});
  for (std::size_t column = 2; column < 9; ++column) table.align_right(column);
  for (const TopItem& item : now) table.add(row(item, rates_of(item, before, seconds)));
  return table.text();
}

Json items_json(const std::vector<TopItem>& before, const std::vector<TopItem>& now,
                const char* name, double seconds) {
  Json list = Json::array();
  for (const TopItem& item : now) {
    const auto rates = rates_of(item, before, seconds);
    const auto rate = [&](double Rates::*member) {
      return rates ? Json((*rates).*member) : Json();
    };
    list.push_back({{name, item.name},
                    {"size_bytes", item.size ? Json(*item.size) : Json()},
                    {"read_bytes_per_s", rate(&Rates::bytes_read)},
                    {"written_bytes_per_s", rate(&Rates::bytes_written)},
                    {"reads_per_s", rate(&Rates::reads)},
                    {"writes_per_s", rate(&Rates::writes)},
                    {"in_flight", item.in_flight ? Json(*item.in_flight) : Json()},
                    {"errors", item.use ? Json(item.use->errors) : Json()}});
  }
  return list;
}

}  // namespace

std::string top_text(const TopSample& before, const TopSample& now) {
  const double seconds = seconds_between(before, now);
  std::string text;
  if (now.target_problem.empty()) {
    text += table_of("EXPORT", "ATTACHED", before.exports, now.exports, seconds);
  } else {
    text += fmt::format("exports: {}\n", now.target_problem);
  }
  text += "\n";
  text += now.mounts.empty() ? "no mounts\n"
                             : table_of("MOUNT", "STATE", before.mounts, now.mounts, seconds);
  if (!now.paths.empty()) {
    text += "\n" + table_of("PATH", "STATE", before.paths, now.paths, seconds);
  }
  return text;
}

Json top_json(const TopSample& before, const TopSample& now) {
  const double seconds = seconds_between(before, now);
  Json document = new_document();
  document["interval_s"] = seconds;
  document["target_problem"] = now.target_problem.empty() ? Json() : Json(now.target_problem);
  document["exports"] = items_json(before.exports, now.exports, "name", seconds);
  document["mounts"] = items_json(before.mounts, now.mounts, "mount_point", seconds);
  document["paths"] = items_json(before.paths, now.paths, "name", seconds);
  return document;
}

}  // namespace rdmablk::cli
