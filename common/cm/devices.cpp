#include "common/cm/devices.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <rdma/rdma_cma.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <list>
#include <string>
#include <string_view>

#include "common/error.h"
#include "common/known_error.h"
#include "common/unique_fd.h"
#include "common/verbs/context.h"
#include "common/verbs/device_list.h"

namespace rdmablk::cm {
namespace {

[[noreturn]] void fail_without_device() {
  throw KnownError(
      ENODEV, fmt::format("there is no RDMA device on this host; {}", verbs::no_device_hint()));
}

/// librdmacm gives no list when it has none, and when it cannot know. Throws SystemError for that.
void require_no_device() {
  int count = 0;
  ibv_device** const list = ibv_get_device_list(&count);
  const int error = list == nullptr ? errno : EIO;
  if (list != nullptr) ibv_free_device_list(list);
  if (list == nullptr || count > 0) throw SystemError("list the RDMA devices", error);
}

bool contains(std::span<ibv_context* const> devices, const ibv_context* device) {
  return std::find(devices.begin(), devices.end(), device) != devices.end();
}

DeviceChanges compare(std::span<ibv_context* const> before, std::span<ibv_context* const> now) {
  DeviceChanges changes;
  for (ibv_context* const device : before) {
    if (!contains(now, device)) changes.gone.push_back(device);
  }
  for (ibv_context* const device : now) {
    if (!contains(before, device)) changes.come.push_back(device);
  }
  return changes;
}

/// Has a descriptor of a device mean nothing, so that the kernel closes the device.
void part_from_device(int fd) noexcept {
  std::array<char, 64> target{};
  const std::string link = "/proc/self/fd/" + std::to_string(fd);
  const auto length = ::readlink(link.c_str(), target.data(), target.size());
  const std::string_view path(target.data(), length > 0 ? static_cast<std::size_t>(length) : 0);
  const bool is_asynchronous = path.find("[infinibandevent]") != std::string_view::npos;
  if (!is_asynchronous && path.find("/uverbs") == std::string_view::npos) return;
  const UniqueFd nothing(::open("/dev/null", O_RDWR | O_CLOEXEC));
  if (nothing) ::dup3(nothing.get(), fd, O_CLOEXEC);
}

/// librdmacm counts who has a device in a list or an identifier, and closes one that is gone when
/// nobody has.
class RdmacmDevices final : public Devices {
 public:
  RdmacmDevices() : now_(read()) {
    if (now_.devices.empty()) fail_without_device();
  }

  std::span<ibv_context* const> get() const noexcept override { return now_.devices; }

  DeviceChanges look() override {
    List found = read();
    if (!found.owned) require_no_device();
    auto changes = compare(now_.devices, found.devices);
    if (changes.gone.empty() && changes.come.empty()) return changes;
    leaving_.insert(leaving_.end(), changes.gone.begin(), changes.gone.end());
    before_.push_back(std::exchange(now_, std::move(found)));
    drop_lists();
    return changes;
  }

  void let_go(ibv_context* gone) noexcept override {
    // It does not notice that the last device is gone (sync_devices_list(), rdma-core 44), and
    // would keep it open.
    if (now_.devices.empty()) {
      part_from_device(gone->cmd_fd);
      part_from_device(gone->async_fd);
    }
    std::erase(leaving_, gone);
    drop_lists();
  }

 private:
  struct Free {
    void operator()(ibv_context** list) const noexcept { rdma_free_devices(list); }
  };
  struct List {
    std::unique_ptr<ibv_context*[], Free> owned;
    std::span<ibv_context* const> devices;
  };

  static List read() {
    int count = 0;
    List list;
    list.owned.reset(rdma_get_devices(&count));
    if (list.owned) list.devices = {list.owned.get(), static_cast<std::size_t>(count)};
    return list;
  }

  /// Those without a device that somebody still has something of.
  void drop_lists() noexcept {
    std::erase_if(before_, [this](const List& list) {
      return std::none_of(leaving_.begin(), leaving_.end(), [&](const ibv_context* device) {
        return contains(list.devices, device);
      });
    });
  }

  List now_;
  std::list<List> before_;
  std::vector<ibv_context*> leaving_;  ///< gone, and not let go of yet
};

class VerbsDevices final : public Devices {
 public:
  VerbsDevices() {
    open_new();
    if (devices_.empty()) fail_without_device();
  }

  std::span<ibv_context* const> get() const noexcept override { return devices_; }

  DeviceChanges look() override {
    const auto before = devices_;
    open_new();
    return compare(before, devices_);
  }

  void let_go(ibv_context* gone) noexcept override {
    contexts_.remove_if([&](const verbs::Context& one) { return one.get() == gone; });
  }

 private:
  /// An open context keeps its device from being freed, and another from taking its place.
  void open_new() {
    const verbs::DeviceList list;
    devices_.clear();
    for (ibv_device* const device : list.devices()) {
      const auto known = std::find_if(contexts_.begin(), contexts_.end(),
                                      [&](const auto& one) { return one.get()->device == device; });
      const auto& context = known != contexts_.end() ? *known : contexts_.emplace_back(device);
      devices_.push_back(context.get());
    }
  }

  std::list<verbs::Context> contexts_;
  std::vector<ibv_context*> devices_;
};

}  // namespace

std::unique_ptr<Devices> open_rdmacm_devices() {
  return std::make_unique<RdmacmDevices>();
}

std::unique_ptr<Devices> open_verbs_devices() {
  return std::make_unique<VerbsDevices>();
}

}  // namespace rdmablk::cm
