#include "tests/scale/scale_run.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <thread>
#include <vector>

#include "common/error.h"
#include "tests/scale/fleet.h"
#include "tests/scale/load.h"
#include "tests/scale/process_figures.h"
#include "tests/scale/watched_target.h"

namespace rdmablk::scale {
namespace {

using cli::Json;

double microseconds(Duration time) {
  return std::chrono::duration<double, std::micro>(time).count();
}

/// The time that a part of them, from 0 to 1, do not exceed. @pre there are some.
double quantile_us(std::vector<Duration> times, double part) {
  std::ranges::sort(times);
  const auto last = static_cast<double>(times.size() - 1);
  return microseconds(times[static_cast<std::size_t>(last * part)]);
}

Json summary(const std::vector<Duration>& times, Duration total) {
  constexpr double kHalf = 0.5;
  constexpr double kNearlyAll = 0.99;
  return Json{{"total_us", microseconds(total)},
              {"p50_us", quantile_us(times, kHalf)},
              {"p99_us", quantile_us(times, kNearlyAll)}};
}

Json opening_summary(const Fleet& fleet) {
  std::vector<Duration> total;
  std::vector<Duration> connect;
  std::vector<Duration> attach;
  std::vector<Duration> queue;
  for (const auto& member : fleet.members()) {
    const OpeningTimes& times = member->times();
    total.push_back(times.total());
    connect.push_back(times.connect);
    attach.push_back(times.attach);
    queue.push_back(times.queue);
  }
  constexpr double kHalf = 0.5;
  Json json = summary(total, fleet.opening_time());
  json["connect_p50_us"] = quantile_us(connect, kHalf);
  json["attach_p50_us"] = quantile_us(attach, kHalf);
  json["queue_p50_us"] = quantile_us(queue, kHalf);
  return json;
}

/// What each of the sessions has added to a process.
Json growth(const ProcessFigures& before, const ProcessFigures& after, std::size_t sessions) {
  const auto each = [&](std::int64_t from, std::int64_t to) {
    return static_cast<double>(to - from) / static_cast<double>(sessions);
  };
  return Json{{"rss_bytes", each(before.rss, after.rss)},
              {"pss_bytes", each(before.pss, after.pss)},
              {"fds", each(before.fds, after.fds)},
              {"threads", each(before.threads, after.threads)}};
}

/// One run: what its steps have in common.
class Run {
 public:
  explicit Run(const ScaleOptions& options)
      : options_(options), target_(options.target_pid, options.target_log) {}

  Json run() {
    prepare();
    begin_ = target_.counts();
    own_fds_ = figures_of(::getpid()).fds;
    Json json = cli::new_document();
    json["sessions"] = options_.sessions;
    measure_one_by_one(json);
    measure_at_once(json);
    return json;
  }

 private:
  MemberOptions member(std::size_t number) const {
    MemberOptions member;
    member.target = options_.target;
    member.export_name = options_.export_name;
    member.depth = options_.depth;
    member.length = options_.part;
    if (options_.kind == Kind::readers) member.access = protocol::Access::read_only;
    if (options_.kind == Kind::shared) member.begin = number * options_.part;
    if (options_.kind == Kind::each) {
      member.export_name += std::to_string(number);
      member.salt = number;
    }
    return member;
  }

  Fleet open(unsigned threads) const {
    return {options_.sessions, [this](std::size_t number) { return member(number); }, threads};
  }

  /// Puts there what readers read; and does once what costs memory only once.
  void prepare() {
    MemberOptions writer = member(0);
    writer.access = protocol::Access::read_write;
    Member(writer).write_pattern();
    Member(member(0)).verify_pattern();
    target_.wait_for({{"sessions", 0}, {"draining", 0}});
  }

  void expect_all_open(const Fleet& fleet) {
    const auto sessions = static_cast<std::int64_t>(options_.sessions);
    for (const auto& member : fleet.members()) {
      if (!member->is_connected()) throw Error("a session is not connected");
    }
    target_.wait_for({{"sessions", sessions}, {"attachments", sessions}, {"io_queues", sessions}});
  }

  void work(const Fleet& fleet) const {
    for (const auto& member : fleet.members()) {
      if (options_.kind != Kind::readers) member->write_pattern();
    }
    for (const auto& member : fleet.members()) member->verify_pattern();
  }

  void expect_all_gone() {
    target_.wait_for(begin_);
    const auto fds = figures_of(::getpid()).fds;
    if (fds != own_fds_) {
      throw Error(fmt::format("{} descriptors of the initiator are left over", fds - own_fds_));
    }
  }

  double throughput(Fleet& fleet, std::size_t sessions) const {
    const Duration time = run_load(fleet, sessions, options_.requests, options_.in_flight);
    return static_cast<double>(options_.requests) / std::chrono::duration<double>(time).count();
  }

  /// Nanoseconds of processor time a second of the target's, with sessions that do nothing.
  double idle_load() const {
    const auto before = cpu_time_of(target_.pid());
    std::this_thread::sleep_for(options_.idle);
    const auto used = cpu_time_of(target_.pid()) - before;
    return static_cast<double>(used.count()) / static_cast<double>(options_.idle.count());
  }

  void close(Fleet& fleet, Json& json) {
    const auto start = std::chrono::steady_clock::now();
    const auto times = fleet.close();
    json["close"] = summary(times, std::chrono::steady_clock::now() - start);
    expect_all_gone();
  }

  void measure_one_by_one(Json& json) {
    const auto target_before = figures_of(target_.pid());
    const auto own_before = figures_of(::getpid());
    const auto cpu_before = cpu_time_of(target_.pid());
    Fleet fleet = open(1);
    json["open"] = opening_summary(fleet);
    json["open"]["target_cpu_us"] = microseconds(cpu_time_of(target_.pid()) - cpu_before) /
                                    static_cast<double>(options_.sessions);
    expect_all_open(fleet);
    work(fleet);
    json["target"] = growth(target_before, figures_of(target_.pid()), options_.sessions);
    json["initiator"] = growth(own_before, figures_of(::getpid()), options_.sessions);
    json["requests_per_second"] = throughput(fleet, fleet.size());
    json["requests_per_second_of_one"] = throughput(fleet, 1);
    if (options_.idle.count() > 0) json["target_idle_cpu_ns_per_second"] = idle_load();
    close(fleet, json);
  }

  void measure_at_once(Json& json) {
    Fleet fleet = open(options_.threads);
    json["open_at_once"] = opening_summary(fleet);
    json["open_at_once"]["threads"] = options_.threads;
    expect_all_open(fleet);
    work(fleet);
    Json closing;
    close(fleet, closing);
  }

  const ScaleOptions& options_;
  WatchedTarget target_;
  TargetCounts begin_;
  std::int64_t own_fds_ = 0;
};

}  // namespace

Json run_scale(const ScaleOptions& options) {
  return Run(options).run();
}

}  // namespace rdmablk::scale
