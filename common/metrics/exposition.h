#pragma once

#include <prometheus/metric_family.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/metrics/io_counters.h"
#include "common/metrics/latency_histogram.h"

namespace rdmablk::metrics {

/// Pairs of a name and a value; the values may be any text.
using Labels = std::vector<std::pair<std::string, std::string>>;

/// Metrics as Prometheus reads them, made anew whenever it asks. Names are complete: with their
/// unit, and with _total behind those of counters.
class Exposition {
 public:
  /// @param help one sentence, for people. Alike for all metrics of one name.
  void counter(std::string_view name, std::string_view help, double value, Labels labels = {});
  void gauge(std::string_view name, std::string_view help, double value, Labels labels = {});
  void histogram(std::string_view name, std::string_view help, const LatencyFigures& figures,
                 Labels labels = {});

  /// A gauge that is 1, for what its labels say.
  void info(std::string_view name, std::string_view help, Labels labels) {
    gauge(name, help, 1, std::move(labels));
  }

  /// PREFIX_requests_total, _bytes_total, _errors_total and _request_duration_seconds of requests.
  void io(const std::string& prefix, const IoFigures& figures, const Labels& labels);

  /// In the text format.
  std::string text() const;

  static constexpr const char* kContentType = "text/plain; version=0.0.4; charset=utf-8";

 private:
  prometheus::ClientMetric& add(std::string_view name, std::string_view help,
                                prometheus::MetricType type, Labels labels);

  std::vector<prometheus::MetricFamily> families_;
};

}  // namespace rdmablk::metrics
