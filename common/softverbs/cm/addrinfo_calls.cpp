// rdma_getaddrinfo(3): name resolution alone, it needs no device.

#include <netdb.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>

#include <rdma/rdma_cma.h>

#include "common/softverbs/cm/api.h"

namespace softverbs::cm {
namespace {

struct FreeAddrinfo {
  void operator()(addrinfo* list) const { ::freeaddrinfo(list); }
};
struct FreeRdmaAddrinfo {
  void operator()(rdma_addrinfo* list) const;
};
using Found = std::unique_ptr<addrinfo, FreeAddrinfo>;
using Result = std::unique_ptr<rdma_addrinfo, FreeRdmaAddrinfo>;

// The result crosses a C interface, so its parts come from malloc.
void FreeRdmaAddrinfo::operator()(rdma_addrinfo* list) const {
  while (list != nullptr) {
    rdma_addrinfo* next = list->ai_next;
    std::free(list->ai_src_addr);
    std::free(list->ai_dst_addr);
    std::free(list->ai_src_canonname);
    std::free(list->ai_dst_canonname);
    std::free(list->ai_route);
    std::free(list->ai_connect);
    std::free(list);
    list = next;
  }
}

sockaddr* copy_address(const sockaddr* address, socklen_t size) {
  auto* copy = static_cast<sockaddr*>(std::malloc(size));
  if (copy == nullptr) throw std::bad_alloc();
  std::memcpy(copy, address, size);
  return copy;
}

addrinfo to_ip_hints(const rdma_addrinfo& hints) {
  addrinfo result{};
  if ((hints.ai_flags & RAI_PASSIVE) != 0) result.ai_flags |= AI_PASSIVE;
  if ((hints.ai_flags & RAI_NUMERICHOST) != 0) result.ai_flags |= AI_NUMERICHOST;
  result.ai_family = hints.ai_family;
  if (hints.ai_qp_type != 0) {
    result.ai_socktype = hints.ai_qp_type == IBV_QPT_UD ? SOCK_DGRAM : SOCK_STREAM;
  }
  if (hints.ai_port_space == RDMA_PS_TCP) result.ai_protocol = IPPROTO_TCP;
  if (hints.ai_port_space == RDMA_PS_UDP) result.ai_protocol = IPPROTO_UDP;
  return result;
}

Result make_result(const addrinfo& found, const rdma_addrinfo& hints) {
  Result result(static_cast<rdma_addrinfo*>(std::calloc(1, sizeof(rdma_addrinfo))));
  if (!result) throw std::bad_alloc();
  const bool datagram = found.ai_socktype == SOCK_DGRAM;
  result->ai_flags = hints.ai_flags;
  result->ai_family = found.ai_family;
  result->ai_qp_type =
      hints.ai_qp_type != 0 ? hints.ai_qp_type : (datagram ? IBV_QPT_UD : IBV_QPT_RC);
  result->ai_port_space =
      hints.ai_port_space != 0 ? hints.ai_port_space : (datagram ? RDMA_PS_UDP : RDMA_PS_TCP);
  char* name = found.ai_canonname != nullptr ? ::strdup(found.ai_canonname) : nullptr;
  if ((hints.ai_flags & RAI_PASSIVE) != 0) {
    result->ai_src_addr = copy_address(found.ai_addr, found.ai_addrlen);
    result->ai_src_len = found.ai_addrlen;
    result->ai_src_canonname = name;
    return result;
  }
  result->ai_dst_addr = copy_address(found.ai_addr, found.ai_addrlen);
  result->ai_dst_len = found.ai_addrlen;
  result->ai_dst_canonname = name;
  if (hints.ai_src_len != 0) {
    result->ai_src_addr = copy_address(hints.ai_src_addr, hints.ai_src_len);
    result->ai_src_len = hints.ai_src_len;
  }
  return result;
}

// Addresses of their own, without a name: the hints carry them already.
Result from_hints(const rdma_addrinfo& hints) {
  addrinfo given{};
  const bool passive = (hints.ai_flags & RAI_PASSIVE) != 0;
  given.ai_addr = passive ? hints.ai_src_addr : hints.ai_dst_addr;
  given.ai_addrlen = passive ? hints.ai_src_len : hints.ai_dst_len;
  if (given.ai_addr == nullptr || given.ai_addrlen < sizeof(sockaddr_in)) return nullptr;
  given.ai_family = given.ai_addr->sa_family;
  given.ai_socktype = hints.ai_qp_type == IBV_QPT_UD ? SOCK_DGRAM : SOCK_STREAM;
  return make_result(given, hints);
}

int resolve(const char* node, const char* service, const rdma_addrinfo* hints,
            rdma_addrinfo** result) {
  if (node == nullptr && service == nullptr) {
    if (hints == nullptr) return fail(EINVAL);
    Result made = from_hints(*hints);
    if (!made) return fail(EINVAL);
    *result = made.release();
    return 0;
  }
  const rdma_addrinfo no_hints{};
  const rdma_addrinfo& wanted = hints != nullptr ? *hints : no_hints;
  const addrinfo ip_hints = to_ip_hints(wanted);
  addrinfo* list = nullptr;
  if (const int error = ::getaddrinfo(node, service, &ip_hints, &list); error != 0) return error;
  const Found found(list);
  *result = make_result(*found, wanted).release();
  return 0;
}

}  // namespace
}  // namespace softverbs::cm

using namespace softverbs::cm;

SOFTVERBS_EXPORT int rdma_getaddrinfo(const char* node, const char* service,
                                      const rdma_addrinfo* hints, rdma_addrinfo** res) {
  if (res == nullptr) return fail(EINVAL);
  return guarded([&] { return resolve(node, service, hints, res); });
}

SOFTVERBS_EXPORT void rdma_freeaddrinfo(rdma_addrinfo* res) {
  const Result owned(res);
}
