#include "target/settlement.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <asio/executor_work_guard.hpp>
#include <asio/post.hpp>
#include <system_error>
#include <thread>

#include "common/error.h"
#include "common/signals.h"

namespace rdmablk::target {

std::vector<const Export*> settle(std::span<const std::unique_ptr<Export>> exports,
                                  asio::io_context& io) {
  std::vector<const Export*> unsettled;
  std::size_t waiting = 0;
  std::vector<std::jthread> threads;
  for (const auto& exported : exports) {
    if (!exported->needs_settling()) continue;
    ++waiting;
    const auto work_on = [&io, &unsettled, &waiting, one = exported.get()] {
      const bool settled = one->settle();
      asio::post(io, [&unsettled, &waiting, one, settled] {
        if (!settled) unsettled.push_back(one);
        --waiting;
      });
    };
    const SignalsBlocked blocked;  // they are for the thread that controls
    try {
      threads.emplace_back(work_on);
    } catch (const std::system_error& /*error*/) {
      work_on();
    }
  }
  const auto work = asio::make_work_guard(io);
  while (waiting > 0) {
    io.restart();
    io.run_one();
  }
  return unsettled;
}

void mark_clean(std::span<const std::unique_ptr<Export>> exports,
                std::span<const Export* const> unsettled) {
  for (const auto& exported : exports) {
    if (std::find(unsettled.begin(), unsettled.end(), exported.get()) != unsettled.end()) continue;
    try {
      exported->mark_clean();
    } catch (const Error& error) {
      spdlog::error("{}", error.what());
    }
  }
}

std::string describe_unsettled(std::span<const Export* const> exports) {
  std::string text;
  for (const Export* const one : exports) {
    text += fmt::format("{}export '{}' ({})", text.empty() ? "" : ", ", one->spec().name,
                        one->backing_path());
  }
  return fmt::format(
      "data is lost: not everything that was written to {} has reached the file, the log says why; "
      "remove the cause and check what the file holds (fsck) before it is used again",
      text);
}

}  // namespace rdmablk::target
