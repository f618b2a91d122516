#include "target/registrar.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <asio/executor_work_guard.hpp>
#include <asio/post.hpp>
#include <chrono>
#include <exception>
#include <utility>

namespace rdmablk::target {

Registrar::Registrar(asio::io_context& io, Exports& exports, ExportTurns& turns)
    : io_(io), exports_(exports), turns_(turns), background_(io) {}

void Registrar::want(const std::string& export_name, ibv_context* device, Done done) {
  Export* const exported = exports_.find(export_name);
  auto found = exports_.find_device(device);
  if (exported == nullptr || found == nullptr) {
    const auto tell = [done = std::move(done), export_name] {
      done(fmt::format("export '{}', or the device that it was wanted on, is gone", export_name));
    };
    return asio::post(io_, lifetime_.guard(tell));
  }
  const auto same = std::find_if(jobs_.begin(), jobs_.end(), [&](const Job& job) {
    return job.exported == exported && job.device == found;
  });
  if (same != jobs_.end()) return same->done.push_back(std::move(done));
  const auto job =
      jobs_.insert(jobs_.end(), Job{exported, exported->use().hold(), std::move(found), {}});
  job->done.push_back(std::move(done));
  asio::post(io_, lifetime_.guard(
                      [this, job] { turns_.take(*job->exported, [this, job] { begin(job); }); }));
}

void Registrar::begin(Jobs::iterator job) {
  if (job->exported->is_registered_with(job->device->context())) return end(job);
  if (!is_there(*job)) return end(job);
  const auto work = [&job = *job, editions = job->exported->edition_sizes()] {
    const auto start = std::chrono::steady_clock::now();
    try {
      job.made = job.exported->register_with(job.device->context(), job.device, editions);
    } catch (const std::exception& error) {
      job.failure = fmt::format("export '{}' cannot be used over {}: {}", job.exported->spec().name,
                                job.device->name(), error.what());
      return;
    }
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
    spdlog::info("export '{}': registered with {} in {:.3f} s", job.exported->spec().name,
                 job.device->name(), time.count());
  };
  background_.run(work, [this, job] { on_made(job); });
}

/// Whether its device is not gone meanwhile.
bool Registrar::is_there(Job& job) const {
  if (exports_.find_device(job.device->context()) == job.device) return true;
  job.failure = fmt::format("RDMA device {} was removed from the target", job.device->name());
  return false;
}

void Registrar::on_made(Jobs::iterator job) {
  if (!job->failure.empty()) {
    spdlog::error("{}", job->failure);
    return end(job);
  }
  if (!is_there(*job)) return end(job);  // nobody would take back what was made
  job->exported->add_device(std::move(job->made));
  exports_.update_offers(*job->exported);
  end(job);
}

void Registrar::end(Jobs::iterator job) {
  turns_.end(*job->exported);
  const auto over = std::make_shared<Job>(std::move(*job));
  jobs_.erase(job);
  const auto failure = over->failure.empty() ? std::nullopt : std::optional(over->failure);
  for (const Done& done : over->done) done(failure);
}

void Registrar::drop(ibv_context* device) {
  for (const auto& one : exports_.all()) {
    if (!one->is_registered_with(device) || one->device_count() == 0) continue;
    ++drops_;
    const auto hold = std::make_shared<ExportUse::Hold>(one->use().hold());
    turns_.take(*one, [this, hold, device, exported = one.get()] {
      const auto taken =
          std::make_shared<std::unique_ptr<Export::DeviceMemory>>(exported->take_device(device));
      turns_.end(*exported);
      background_.run([taken] { taken->reset(); }, [this, hold] { --drops_; });
    });
  }
}

void Registrar::finish() {
  const auto work = asio::make_work_guard(io_);
  while (!jobs_.empty() || drops_ > 0) {
    io_.restart();
    io_.run_one();
  }
}

}  // namespace rdmablk::target
