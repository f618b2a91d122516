#include "fuse/mount.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <pthread.h>
#include <spdlog/spdlog.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <utility>

#include "common/error.h"
#include "common/metrics/exposition.h"
#include "common/metrics/status_page.h"
#include "common/metrics/use.h"
#include "common/mount_table.h"
#include "common/numa.h"

namespace rdmablk::fuse {

namespace {

/// What the kernel itself takes for a limit, at least.
constexpr unsigned kMinBackground = 12;
constexpr unsigned kMaxBackground = UINT16_MAX;

constexpr mode_t kWriteBits = 0222;

std::unique_ptr<ImageSource> open_source(const Options& options) {
  const WorkerPlan plan = options.plan();
  const bool read_only = options.mount.read_only;
  if (!options.uri) return open_null(*options.null_size, plan, read_only);
  return open_remote(*options.uri, plan,
                     {.read_only = read_only,
                      .or_less = options.or_read_only,
                      .take_over = options.mount.take_over,
                      .recovery = options.mount.recovery,
                      .connection = options.mount.connection,
                      .credentials = options.mount.credentials(),
                      .features = options.mount.features});
}

ImageNode::Attributes attributes(const Options& options, const initiator::ImageInfo& info,
                                 bool read_only) {
  ImageNode::Attributes attributes;
  attributes.name = info.name;
  attributes.size = info.size;
  attributes.mode = options.mount.mode.value_or(0600);
  if (read_only) attributes.mode &= ~kWriteBits;
  attributes.uid = options.mount.uid.value_or(::getuid());
  attributes.gid = options.mount.gid.value_or(::getgid());
  attributes.has_holes = info.has_holes;
  return attributes;
}

/// What the calling thread makes from here on lies near the device: the workers' buffers, which are
/// touched when they are registered, and their threads.
void stay_near_device(ImageSource& source) {
  const std::string& device = source.image().info().device;
  const unsigned workers = source.plan().workers;
  if (device.empty()) return;
  if (const auto node = pin_this_thread_near(device, workers)) {
    spdlog::debug("workers run on the processors of NUMA node {}, where RDMA device {} is", *node,
                  device);
  }
}

}  // namespace

void Mount::start(const Options& options, const MountPoint& point) {
  start(open_source(options), options, point);
  if (!options.uri) source_->set_recovery(options.mount.recovery);
}

void Mount::start(std::unique_ptr<ImageSource> source, const Options& options,
                  const MountPoint& point) {
  source_ = std::move(source);
  stay_near_device(*source_);
  make_file_system(options, point.layout);
  make_workers(options);
  source_->report([this] { return metrics::use_of(team_->figures()); });
  source_->start();
  let_watch(options, point);
  mount(options, point);
  check(point);
  size_notice_.start(*session_, file_system_->node.image(),
                     point.image_path(file_system_->node.name()));
  mark(point);
}

void Mount::make_file_system(const Options& options, Layout layout) {
  const initiator::ImageInfo& info = source_->image().info();
  const bool read_only = options.mount.read_only || info.read_only;
  const auto slots = static_cast<unsigned>(source_->plan().slots());
  file_system_.reset(new FileSystem{
      .node = ImageNode(layout, attributes(options, info, read_only)),
      .read_only = read_only,
      .flush_is_free = info.flush_is_free,
      .has_holes = info.has_holes,
      .max_background = std::clamp(slots, kMinBackground, kMaxBackground),
      .source = source_.get(),
      .uri = options.uri ? options.uri->text() : "",
  });
  source_->image().on_resized([this](std::uint64_t size) {
    file_system_->node.set_size(size);
    size_notice_.tell();
  });
}

void Mount::make_workers(const Options& options) {
  const WorkerPlan plan = source_->plan();
  Worker::Settings settings;
  settings.depth = plan.depth;
  settings.spin = options.mount.spin.value_or(default_spin());
  settings.slow = options.mount.slow.value_or(settings.slow);
  team_.emplace(plan.workers);
  file_system_->team = &*team_;
  for (unsigned i = 0; i < plan.workers; ++i) {
    workers_.push_back(std::make_unique<Worker>(*source_, *team_, i, settings));
  }
}

void Mount::mount(const Options& options, const MountPoint& point) {
  MountSettings settings;
  settings.source = options.mount.fsname.value_or(options.source());
  settings.read_only = file_system_->read_only;
  settings.allow_other = options.mount.allow_other || ::geteuid() == 0;
  settings.flags = options.mount.kernel_flags;
  session_ = std::make_unique<FuseSession>(settings, operations(), file_system_.get());
  session_->mount(point.path);
  for (const auto& worker : workers_) worker->open(*session_, stop_);
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    threads_.emplace_back([this, worker = workers_[i].get()] { worker->run(ended_); });
    const std::string name = fmt::format("worker-{}", i);
    ::pthread_setname_np(threads_.back().native_handle(), name.c_str());
  }
}

/// Asks the mount for something, as anybody would, and past the kernel's memory.
void Mount::check(const MountPoint& point) const {
  struct statx status {};
  const int flags = AT_STATX_FORCE_SYNC;
  if (::statx(AT_FDCWD, point.path.c_str(), flags, STATX_BASIC_STATS, &status) != 0) {
    throw SystemError(fmt::format("use the mount on {}", point.path), errno);
  }
  const bool is_file = point.layout == Layout::file;
  if (is_file && status.stx_size != file_system_->node.size()) {
    throw Error(
        fmt::format("cannot use the mount on {}: something else is mounted there now", point.path));
  }
}

/// A daemon that is about to end may hold the marker still: the kernel gives its mount's number to
/// the next one at once. It lets go when it notices. If it never does, nobody waits for this one.
void Mount::mark(const MountPoint& point) {
  const auto entry = mounted_at(point.path);
  if (!entry) return;
  for (int attempts = 100; attempts > 0 && !marker_; --attempts) {
    try {
      marker_.emplace(entry->device);
    } catch (const SystemError& error) {
      spdlog::debug("{}", error.what());
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  }
}

/// From here on figures() are asked for.
void Mount::let_watch(const Options& options, const MountPoint& point) {
  const initiator::ImageInfo& info = source_->image().info();
  names_.source = options.source();
  names_.export_name = options.image_name();
  names_.mount_point = point.path;
  names_.device = info.device;
  names_.read_only = file_system_->read_only;
  names_.plan = source_->plan();
  if (!options.mount.metrics) return;
  using metrics::HttpResponse;
  watched_.emplace(
      *options.mount.metrics,
      std::map<std::string, metrics::HttpServer::Page>{
          {"/",
           [] {
             return HttpResponse{metrics::kHtml, metrics::status_page()};
           }},
          {"/status.json",
           [this] {
             return HttpResponse{metrics::kJson, figures().status()};
           }},
          {"/metrics", [this] {
             return HttpResponse{metrics::Exposition::kContentType, figures().metrics()};
           }}});
  spdlog::info("metrics at http://{}/metrics", watched_->address().text());
}

MountFigures Mount::figures() const {
  MountFigures figures = names_;
  figures.size = file_system_->node.size();
  figures.state = source_->state();
  figures.paths = source_->paths();
  figures.io = team_->figures();
  const Activity::Seen seen = team_->activity.look();
  figures.in_flight = seen.in_flight;
  if (seen.oldest) figures.oldest = Activity::Clock::now() - *seen.oldest;
  return figures;
}

void Mount::wait(const TerminationSignals& signals) {
  const int signal = signals.wait(ended_.fd());
  if (signal != 0) {
    spdlog::info("unmounting: {}", ::strsignal(signal));
  } else {
    spdlog::info("unmounted");
  }
}

int Mount::wait(const TerminationSignals& signals, CaptiveCommand& command) {
  while (const int signal = signals.wait(ended_.fd(), command.fd())) command.signal(signal);
  pollfd source{command.fd(), POLLIN, 0};
  if (::poll(&source, 1, 0) > 0) return command.status();
  spdlog::error("unmounted while the command of --run was running");
  return kExitFailed;
}

Mount::~Mount() {
  stop();
}

/// Whether every write that was acknowledged was flushed, too; if not, the log says why.
bool Mount::has_lost_nothing() const noexcept {
  if (!team_ || !team_->unsynced.any()) return true;
  for (const auto& worker : workers_) {
    if (worker->flush_problem().empty()) continue;
    spdlog::error("{}; what was written and not synced may be lost", worker->flush_problem());
    break;  // the others have the same to tell
  }
  return false;
}

bool Mount::stop() noexcept {
  marker_.reset();
  watched_.reset();
  if (session_ && session_->unmount()) {
    spdlog::warn("the mount was in use: programs that have it open get errors from now on");
  }
  stop_.set();
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
  size_notice_.stop();
  session_.reset();
  if (source_) source_->stop();
  const bool is_safe = has_lost_nothing();
  workers_.clear();
  source_.reset();
  return is_safe;
}

}  // namespace rdmablk::fuse
