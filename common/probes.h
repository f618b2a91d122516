#pragma once

#include <cstdint>

/// Probes of a request's way, for bpftrace, perf and SystemTap (USDT, provider "rdmablk"); see
/// docs/performance.md. A probe that nobody watches is one instruction that does nothing. Built
/// without <sys/sdt.h> there are none.
///
/// RDMABLK_PROBE(name, request, ...): arguments are integers, or enumerators turned into ones. The
/// first one is the address of the request, the same at each step of its way:
///   submit    request, operation, offset, length, the kernel's number
///   post      request, operation, offset, length
///   complete  request, operation, offset, length, the kernel's number, error
///   reply     request, operation, offset, length, the kernel's number, error
/// Operations are those of initiator::Operation (0 read, 1 write, 2 flush, 3 zero, 4 discard,
/// 5 map), errors errno values, or 0.
#if __has_include(<sys/sdt.h>)
#define SDT_USE_VARIADIC 1
#include <sys/sdt.h>
#define RDMABLK_PROBE(name, ...) STAP_PROBEV(rdmablk, name, __VA_ARGS__)
#else
#define RDMABLK_PROBE(name, ...) static_cast<void>(0)
#endif

namespace rdmablk {

/// A request as probes have it.
template <typename Request>
std::uintptr_t probe_id(const Request& request) noexcept {
  return reinterpret_cast<std::uintptr_t>(&request);
}

}  // namespace rdmablk
