#include "common/metrics/exposition.h"

#include <prometheus/text_serializer.h>

#include <algorithm>
#include <chrono>

#include "common/seconds.h"

namespace rdmablk::metrics {
namespace {

/// Kinds of requests that move bytes.
bool has_bytes(IoKind kind) {
  return kind != IoKind::flush && kind != IoKind::map;
}

Labels with(Labels labels, std::string name, std::string value) {
  labels.emplace_back(std::move(name), std::move(value));
  return labels;
}

}  // namespace

/// All metrics of one name stand together.
prometheus::ClientMetric& Exposition::add(std::string_view name, std::string_view help,
                                          prometheus::MetricType type, Labels labels) {
  auto family =
      std::find_if(families_.begin(), families_.end(),
                   [name](const prometheus::MetricFamily& one) { return one.name == name; });
  if (family == families_.end()) {
    families_.push_back({std::string(name), std::string(help), type, {}});
    family = std::prev(families_.end());
  }
  prometheus::ClientMetric& metric = family->metric.emplace_back();
  for (auto& [label, value] : labels) metric.label.push_back({label, std::move(value)});
  return metric;
}

void Exposition::counter(std::string_view name, std::string_view help, double value,
                         Labels labels) {
  add(name, help, prometheus::MetricType::Counter, std::move(labels)).counter.value = value;
}

void Exposition::gauge(std::string_view name, std::string_view help, double value, Labels labels) {
  add(name, help, prometheus::MetricType::Gauge, std::move(labels)).gauge.value = value;
}

void Exposition::histogram(std::string_view name, std::string_view help,
                           const LatencyFigures& figures, Labels labels) {
  auto& histogram = add(name, help, prometheus::MetricType::Histogram, std::move(labels)).histogram;
  std::uint64_t count = 0;
  for (std::size_t i = 0; i < LatencyFigures::kBounded; ++i) {
    count += figures.buckets[i];
    histogram.bucket.push_back({count, LatencyFigures::bound(i)});
  }
  histogram.sample_count = figures.count();
  histogram.sample_sum = in_seconds(figures.sum);
}

void Exposition::io(const std::string& prefix, const IoFigures& figures, const Labels& labels) {
  for (std::size_t i = 0; i < kIoKinds; ++i) {
    const IoKindFigures& of_kind = figures.kinds[i];
    const Labels of = with(labels, "operation", kIoKindNames[i]);
    counter(prefix + "_requests_total", "Requests that have ended, well or not.",
            static_cast<double>(of_kind.ended), of);
    if (has_bytes(static_cast<IoKind>(i))) {
      counter(prefix + "_bytes_total", "Bytes of requests that have succeeded.",
              static_cast<double>(of_kind.bytes), of);
    }
    for (std::size_t kind = 0; kind < kErrorKinds; ++kind) {
      counter(prefix + "_errors_total", "Requests that have failed, by the kind of the failure.",
              static_cast<double>(of_kind.errors[kind]), with(of, "kind", kErrorKindNames[kind]));
    }
    histogram(prefix + "_request_duration_seconds", "How long requests took, until they ended.",
              of_kind.latency, of);
  }
}

std::string Exposition::text() const {
  return prometheus::TextSerializer().Serialize(families_);
}

}  // namespace rdmablk::metrics
