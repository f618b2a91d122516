#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace rdmablk::cm {

/// What carries the words by which two queue pairs find each other.
enum class Method : std::uint8_t {
  rdmacm,  ///< rdma_cm(7): the RDMA network itself, which needs IP addresses
  tcp,     ///< a TCP connection, over whatever network leads there; not for iWARP
};

/// The port that a target listens on. They differ: on iWARP both take theirs from TCP's.
constexpr std::uint16_t default_port(Method method) noexcept {
  return method == Method::rdmacm ? 10812 : 10813;
}

/// How connections are to be, where what is chosen without it does not suit the fabric. Nothing
/// stands for that choice.
struct Settings {
  std::string device;                         ///< the only one to use: "mlx5_0"; empty: any
  std::optional<std::uint8_t> port;           ///< of the device, from 1
  std::optional<std::uint8_t> gid_index;      ///< of the port's table; RoCE
  std::optional<std::uint16_t> pkey_index;    ///< of the port's table; InfiniBand
  std::optional<std::uint8_t> service_level;  ///< 0 to 15
  std::optional<std::uint8_t> traffic_class;  ///< 0 to 255; of RoCE's IP packets, too
  std::optional<std::uint16_t> path_mtu;      ///< bytes of payload: 256, 512, 1024, 2048, 4096

  /// How long to wait for an acknowledgement before sending again, as 4.096 us * 2^n with n from 1
  /// to 31: 0.27 s. A device may take up to four times as long.
  std::uint8_t ack_timeout = 16;

  /// How often to send again before the connection counts as lost, 0 to 7. A peer that vanished
  /// without a word is noticed after that. Soft-RoCE takes 7 for without end.
  std::uint8_t retries = 6;

  bool operator==(const Settings&) const = default;
};

}  // namespace rdmablk::cm
