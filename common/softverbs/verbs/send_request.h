#pragma once

#include <infiniband/verbs.h>

#include <cstdint>

namespace softverbs {

/// A posted send work request; its scatter/gather list and inline data are kept beside it.
struct SendRequest {
  uint64_t wr_id;
  ibv_wr_opcode opcode;
  uint32_t num_sge;
  uint32_t length;  ///< Of all its data.
  uint32_t immediate;
  uint32_t rkey;
  uint32_t msn;  ///< For opcodes that the responder's service handles.
  uint64_t remote_address;
  uint64_t compare_add;
  uint64_t swap;
  bool signaled;
  bool solicited;
  bool is_inline;
  bool too_long;    ///< Its data is longer than any message.
  bool met_faults;  ///< Faults have had their chance at it.

  [[nodiscard]] bool is_send() const {
    return opcode == IBV_WR_SEND || opcode == IBV_WR_SEND_WITH_IMM;
  }
  [[nodiscard]] bool is_write() const {
    return opcode == IBV_WR_RDMA_WRITE || opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
  }
  [[nodiscard]] bool is_read() const { return opcode == IBV_WR_RDMA_READ; }
  [[nodiscard]] bool is_atomic() const {
    return opcode == IBV_WR_ATOMIC_CMP_AND_SWP || opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
  }
  [[nodiscard]] bool has_immediate() const {
    return opcode == IBV_WR_SEND_WITH_IMM || opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
  }
  /// Whether its local memory is written.
  [[nodiscard]] bool has_sink() const { return is_read() || is_atomic(); }
};

/// A posted receive work request.
struct ReceiveRequest {
  uint64_t wr_id;
  uint32_t num_sge;
  uint32_t length;
};

}  // namespace softverbs
