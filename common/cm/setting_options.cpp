#include "common/cm/setting_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "common/error.h"
#include "common/units.h"

namespace rdmablk::cm {
namespace {

constexpr auto kOptions = std::to_array<SettingOption>({
    {"device", "NAME[/PORT]",
     "the only RDMA device to use, and its port where it has several: mlx5_0, mlx5_0/2; `rdmablk "
     "devices` lists them"},
    {"gid_index", "N",
     "the entry of the port's GID table to connect from; default: one that suits the peer's "
     "address, RoCE v2 before v1"},
    {"pkey_index", "N",
     "the entry of the port's P_Key table, which is the InfiniBand partition; with tcp alone"},
    {"service_level", "N", "the InfiniBand service level, 0 to 15; with tcp alone"},
    {"traffic_class", "N", "the traffic class, 0 to 255: RoCE v2's packets have it as their TOS"},
    {"path_mtu", "BYTES",
     "the most bytes in a packet: 256, 512, 1024, 2048 or 4096; default: what both ports can; with "
     "tcp alone"},
    {"ack_timeout", "N",
     "wait 4.096 us * 2^N for an acknowledgement, then send again; 1 to 31: 14 is 67 ms, 16 (the "
     "default) 0.27 s, 18 1.1 s, 20 4.3 s. Devices may take up to four times as long"},
    {"retries", "N",
     "how often to send again before the connection counts as lost, 0 to 7; default 6. Soft-RoCE "
     "takes 7 for without end"},
});

constexpr std::uint64_t kMaxAckTimeout = 31;
constexpr std::uint64_t kMaxRetries = 7;
constexpr std::uint64_t kMaxServiceLevel = 15;

/// As a file's name: the kernel has a directory for each (64 bytes at most, IBV_SYSFS_NAME_MAX).
bool is_device_name(std::string_view name) {
  constexpr std::size_t kMost = 63;
  const auto is_fine = [](char c) { return c > ' ' && c < 0x7f && c != '/'; };
  return !name.empty() && name.size() <= kMost && std::all_of(name.begin(), name.end(), is_fine);
}

void set_device(Settings& settings, const std::string& option, const std::string& value) {
  const auto slash = value.find('/');
  const std::string name = value.substr(0, slash);
  std::optional<std::uint64_t> port;
  if (slash != std::string::npos) port = parse_number(value.substr(slash + 1), UINT8_MAX);
  const bool has_fine_port = slash == std::string::npos || port.value_or(0) > 0;
  if (!is_device_name(name) || !has_fine_port) {
    throw UsageError(fmt::format(
        "{} takes the name of an RDMA device, as mlx5_0, or that with the number of a port, as "
        "mlx5_0/1, not '{}'; `rdmablk devices` lists them",
        option, value));
  }
  settings.device = name;
  settings.port.reset();
  if (port) settings.port = static_cast<std::uint8_t>(*port);
}

std::uint16_t read_mtu(const std::string& option, const std::string& value) {
  constexpr auto kSizes = std::to_array<std::uint16_t>({256, 512, 1024, 2048, 4096});
  const auto size = parse_number(value, UINT16_MAX);
  const bool is_known = size && std::find(kSizes.begin(), kSizes.end(), *size) != kSizes.end();
  if (is_known) return static_cast<std::uint16_t>(*size);
  throw UsageError(fmt::format("{} takes {}, not '{}'", option, fmt::join(kSizes, ", "), value));
}

}  // namespace

std::string spelled(std::string_view name, Spelling spelling) {
  if (spelling == Spelling::mount_option) return "option " + std::string(name);
  std::string option = "--" + std::string(name);
  std::replace(option.begin(), option.end(), '_', '-');
  return option;
}

std::span<const SettingOption> setting_options() noexcept {
  return kOptions;
}

void set(Settings& settings, std::string_view name, Spelling spelling, const std::string& value) {
  const std::string option = spelled(name, spelling);
  const auto number = [&](std::uint64_t least, std::uint64_t most) {
    const auto parsed = parse_number(value, most);
    if (parsed && *parsed >= least) return *parsed;
    throw UsageError(
        fmt::format("{} takes a number from {} to {}, not '{}'", option, least, most, value));
  };
  if (name == "device") {
    set_device(settings, option, value);
  } else if (name == "gid_index") {
    settings.gid_index = static_cast<std::uint8_t>(number(0, UINT8_MAX));
  } else if (name == "pkey_index") {
    settings.pkey_index = static_cast<std::uint16_t>(number(0, UINT16_MAX));
  } else if (name == "service_level") {
    settings.service_level = static_cast<std::uint8_t>(number(0, kMaxServiceLevel));
  } else if (name == "traffic_class") {
    settings.traffic_class = static_cast<std::uint8_t>(number(0, UINT8_MAX));
  } else if (name == "path_mtu") {
    settings.path_mtu = read_mtu(option, value);
  } else if (name == "ack_timeout") {
    settings.ack_timeout = static_cast<std::uint8_t>(number(1, kMaxAckTimeout));
  } else if (name == "retries") {
    settings.retries = static_cast<std::uint8_t>(number(0, kMaxRetries));
  } else {
    throw UsageError(fmt::format("there is no {}", option));
  }
}

Method read_method(const std::string& option, const std::string& value) {
  if (value == method_name(Method::rdmacm)) return Method::rdmacm;
  if (value == method_name(Method::tcp)) return Method::tcp;
  throw UsageError(fmt::format("{} takes rdmacm or tcp, not '{}'", option, value));
}

Method default_method() {
  const char* const method = std::getenv("RDMABLK_CM");
  return method == nullptr || *method == '\0'
             ? Method::rdmacm
             : read_method("the environment variable RDMABLK_CM", method);
}

const char* method_name(Method method) noexcept {
  return method == Method::rdmacm ? "rdmacm" : "tcp";
}

void check(const Settings& settings, Method method, Spelling spelling) {
  if (method == Method::tcp) return;
  const auto refuse = [spelling](const char* name, const char* from) {
    throw UsageError(fmt::format("{} goes with {} alone: rdma_cm takes {}", spelled(name, spelling),
                                 spelling == Spelling::command_line ? "--cm tcp" : "cm=tcp", from));
  };
  if (settings.pkey_index) refuse("pkey_index", "the partition of the network interface");
  if (settings.service_level) {
    refuse("service_level", "what the subnet manager says, or the priority of the traffic class");
  }
  if (settings.path_mtu) {
    refuse("path_mtu", "that of the path, which is the network interface's");
  }
}

}  // namespace rdmablk::cm
