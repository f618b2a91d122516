#include "common/softverbs/cm/port_registry.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <sys/syscall.h>
#include <sys/un.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstring>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace softverbs::cm {
namespace {

constexpr int kBacklog = 4096;  // the kernel caps it at net.core.somaxconn
constexpr uint16_t kFirstUnprivileged = 1024;
constexpr uint16_t kFirstDynamic = 32768;
constexpr uint16_t kDynamicPorts = 28232;  // to 60999, as net.ipv4.ip_local_port_range
constexpr int kDynamicAttempts = 64;

std::string port_prefix(rdma_port_space port_space, uint16_t port) {
  return "softverbs/cm/" + std::to_string(static_cast<unsigned>(port_space)) + "/" +
         std::to_string(port) + "/";
}

std::string options(bool reuse, bool one_family) {
  return std::string(1, reuse ? 'r' : '-') + (one_family ? 'o' : '-');
}

std::string bound_name(const PortClaim& claim) {
  static std::atomic<unsigned> next{0};
  std::string name = port_prefix(claim.port_space, claim.address.port()) + "B/" +
                     options(claim.reuse, claim.one_family) + "/" + claim.address.key();
  if (claim.reuse) name += "/" + std::to_string(::getpid()) + "-" + std::to_string(next++);
  return name;
}

std::string listening_name(rdma_port_space port_space, uint16_t port, bool one_family,
                           const SocketAddress& host) {
  return port_prefix(port_space, port) + "L/" + options(false, one_family) + "/" + host.key();
}

struct AbstractAddress {
  sockaddr_un address{};
  socklen_t length = 0;

  explicit AbstractAddress(const std::string& name) {
    address.sun_family = AF_UNIX;
    std::memcpy(&address.sun_path[1], name.data(), name.size());
    length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  }
  [[nodiscard]] const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&address); }
};

int bind_name(const std::string& name, FileDescriptor& socket) {
  FileDescriptor fresh(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fresh) return -errno;
  const AbstractAddress address(name);
  if (::bind(fresh.get(), address.get(), address.length) != 0) return -errno;
  socket = std::move(fresh);
  return 0;
}

std::string read_socket_table() {
  std::string text;
  const FileDescriptor file(::open("/proc/self/net/unix", O_RDONLY | O_CLOEXEC));
  if (!file) return text;
  std::array<char, 65536> part;
  for (;;) {
    const ssize_t got = ::read(file.get(), part.data(), part.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return text;
    text.append(part.data(), static_cast<size_t>(got));
  }
}

struct Holder {
  std::string name;
  bool reuse = false;
  bool one_family = false;
  std::string host;
};

// A line reads "Num: RefCount Protocol Flags Type St Inode Path". Sockets that came out of a
// listener carry its name too, but they are connections, not holders of the port: only the one
// with the flag of a listening socket counts.
bool parse_holder(std::string_view line, std::string_view prefix, Holder& holder) {
  constexpr std::string_view kListening = "00010000";
  const size_t at = line.find('@');
  if (at == std::string_view::npos || line.substr(at + 1, prefix.size()) != prefix) return false;
  const std::string_view rest = line.substr(at + 1 + prefix.size());
  if (rest.size() < 6) return false;
  if (rest[0] == 'L' && line.substr(0, at).find(kListening) == std::string_view::npos) return false;
  holder.name = line.substr(at + 1);
  holder.reuse = rest[2] == 'r';
  holder.one_family = rest[3] == 'o';
  const std::string_view host = rest.substr(5);
  holder.host = host.substr(0, host.find('/'));
  return true;
}

std::vector<Holder> holders_of(rdma_port_space port_space, uint16_t port) {
  const std::string table = read_socket_table();
  const std::string prefix = port_prefix(port_space, port);
  std::vector<Holder> result;
  size_t start = 0;
  while (start < table.size()) {
    const size_t end = std::min(table.find('\n', start), table.size());
    Holder holder;
    if (parse_holder(std::string_view(table).substr(start, end - start), prefix, holder)) {
      result.push_back(std::move(holder));
    }
    start = end + 1;
  }
  return result;
}

bool is_wildcard_key(const std::string& host) {
  return host == SocketAddress::wildcard(AF_INET).key() ||
         host == SocketAddress::wildcard(AF_INET6).key();
}

int check_conflicts(const PortClaim& claim, bool reuse, const std::string& own_name) {
  const std::string host = claim.address.key();
  for (const Holder& holder : holders_of(claim.port_space, claim.address.port())) {
    if (holder.name == own_name) continue;
    if (reuse && holder.reuse) continue;
    if (claim.one_family && holder.one_family && host[0] != holder.host[0]) continue;
    if (claim.address.is_wildcard() || is_wildcard_key(holder.host)) return -EADDRNOTAVAIL;
    if (host == holder.host) return -EADDRINUSE;
  }
  return 0;
}

// Marks before it looks, as those who connect bind before they look for a mark: of two at the same
// instant one at least sees the other.
int bind_exact_port(const PortClaim& claim, FileDescriptor& socket, PortMark& mark) {
  const std::string name = bound_name(claim);
  FileDescriptor fresh;
  PortMark fresh_mark;
  fresh_mark.set(claim.port_space, claim.address.port());
  int error = bind_name(name, fresh);
  if (error == -EADDRINUSE && claim.address.is_wildcard()) error = -EADDRNOTAVAIL;
  if (error == 0) error = check_conflicts(claim, claim.reuse, name);
  if (error != 0) return error;
  socket = std::move(fresh);
  mark = std::move(fresh_mark);
  return 0;
}

int bind_exact_port_to_connect(const PortClaim& claim, FileDescriptor& socket) {
  PortClaim alone;
  alone.port_space = claim.port_space;
  alone.address.set_port(claim.address.port());
  FileDescriptor fresh;
  if (const int error = bind_name(bound_name(alone), fresh); error != 0) return error;
  if (PortMark::is_set(claim.port_space, claim.address.port())) return -EADDRINUSE;
  socket = std::move(fresh);
  return 0;
}

// Tries ports until one can be bound.
template <typename Bind>
int bind_dynamic_port(PortClaim& claim, Bind bind) {
  std::random_device random;
  int error = -EADDRNOTAVAIL;
  for (int attempt = 0; attempt < kDynamicAttempts; ++attempt) {
    PortClaim tried = claim;
    tried.address.set_port(static_cast<uint16_t>(kFirstDynamic + random() % kDynamicPorts));
    error = bind(tried);
    if (error == 0) {
      claim = tried;
      return 0;
    }
    if (error != -EADDRINUSE && error != -EADDRNOTAVAIL) return error;
  }
  return error;
}

bool may_bind_privileged_ports() {
  __user_cap_header_struct header{};
  header.version = _LINUX_CAPABILITY_VERSION_3;
  std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3> data{};
  if (::syscall(SYS_capget, &header, data.data()) != 0) return false;
  return (data[0].effective & (1U << CAP_NET_BIND_SERVICE)) != 0;
}

}  // namespace

int bind_port(PortClaim& claim, FileDescriptor& socket, PortMark& mark) {
  if (claim.address.port() == 0) {
    return bind_dynamic_port(
        claim, [&](const PortClaim& tried) { return bind_exact_port(tried, socket, mark); });
  }
  if (claim.address.port() < kFirstUnprivileged && !may_bind_privileged_ports()) return -EACCES;
  return bind_exact_port(claim, socket, mark);
}

int bind_port_to_connect(PortClaim& claim, FileDescriptor& socket) {
  return bind_dynamic_port(
      claim, [&](const PortClaim& tried) { return bind_exact_port_to_connect(tried, socket); });
}

int listen_on_port(const PortClaim& claim, FileDescriptor& socket, PortMark& mark) {
  mark.set(claim.port_space, claim.address.port());
  if (claim.reuse) {
    sockaddr_un own{};
    socklen_t length = sizeof(own);
    if (::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&own), &length) != 0) return -errno;
    const std::string name(&own.sun_path[1], length - offsetof(sockaddr_un, sun_path) - 1);
    if (const int error = check_conflicts(claim, false, name); error != 0) return error;
  }
  FileDescriptor listening;
  const std::string name =
      listening_name(claim.port_space, claim.address.port(), claim.one_family, claim.address);
  if (const int error = bind_name(name, listening); error != 0) return error;
  if (::listen(listening.get(), kBacklog) != 0) return -errno;
  socket = std::move(listening);
  return 0;
}

int connect_to_port(int socket, rdma_port_space port_space, const SocketAddress& destination) {
  const uint16_t port = destination.port();
  const SocketAddress any4 = SocketAddress::wildcard(AF_INET);
  const SocketAddress any6 = SocketAddress::wildcard(AF_INET6);
  const SocketAddress& own_any = destination.family() == AF_INET ? any4 : any6;
  const std::array<std::string, 5> names = {
      listening_name(port_space, port, false, destination),
      listening_name(port_space, port, true, destination),
      listening_name(port_space, port, true, own_any),
      // A wildcard that is not for one family takes connections of both.
      listening_name(port_space, port, false, any4),
      listening_name(port_space, port, false, any6),
  };
  for (const std::string& name : names) {
    const AbstractAddress address(name);
    if (::connect(socket, address.get(), address.length) == 0) return 0;
    if (errno != ECONNREFUSED) return -errno;
  }
  return -ECONNREFUSED;
}

}  // namespace softverbs::cm
