#pragma once

#include <cstddef>
#include <cstdint>

namespace softverbs {

/// The limits of a device, about those of a mid-range adapter.
inline constexpr int kMaxDevices = 16;
inline constexpr int kMaxSge = 16;
inline constexpr int kMaxQueuePairWr = 16384;
inline constexpr int kMaxInline = 512;
inline constexpr int kMaxCqe = 4194303;
inline constexpr int kMaxCq = 65536;
inline constexpr int kMaxPd = 65536;
inline constexpr int kMaxReadAtomic = 16;
inline constexpr uint32_t kMaxMessage = 1U << 30;
inline constexpr uint64_t kMaxRegion = 1ULL << 46;
inline constexpr int kCompletionVectors = 4;

/// A queue pair number is 24 bits: the process's block, then an index within the process.
inline constexpr uint32_t kQueuePairBits = 12;
inline constexpr uint32_t kQueuePairsPerProcess = 1U << kQueuePairBits;
inline constexpr uint32_t kBlocks = 1U << (24 - kQueuePairBits);
inline constexpr uint32_t kMaxMemoryRegions = 65536;

/// The largest payload of one message between processes; longer ones go in pieces.
inline constexpr size_t kMaxPayload = 64 * 1024;

}  // namespace softverbs
