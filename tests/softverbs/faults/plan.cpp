#include "tests/softverbs/faults/plan.h"

#include <chrono>
#include <cstdlib>
#include <stdexcept>
#include <thread>

namespace softverbs::test {

void Plan::set(const std::string& items) const {
  file_.replace(items + "\nlog=" + log_.path() + "\n");
}

void Plan::change(const std::string& items, const std::string& told) const {
  const size_t before = log_.text().size();
  set(items);
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (log_.text().find(told, before) == std::string::npos) {
    if (std::chrono::steady_clock::now() > until)
      throw std::runtime_error("not in the log: " + told);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

void Plan::run(int devices, const std::function<void()>& body) const {
  with_faults("@" + file_.path(), [&] {
    setenv("SOFTVERBS_DEVICES", std::to_string(devices).c_str(), 1);
    body();
  });
}

}  // namespace softverbs::test
