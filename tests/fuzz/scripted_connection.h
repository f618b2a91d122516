#pragma once

#include <memory>
#include <string>

#include "common/cm/connection.h"
#include "tests/fuzz/scripted_device.h"

namespace rdmablk::fuzz {

/// A connection over the scripted device, which is made at once and ends when this end says so.
class ScriptedConnection : public cm::Connection {
 public:
  ibv_context* device() const noexcept override { return scripted_context(); }
  std::string peer() const override { return "peer"; }

  verbs::QueuePair& create_queue_pair(const verbs::ProtectionDomain& pd,
                                      const verbs::CompletionQueue& cq,
                                      const verbs::QueuePairOptions& options) override {
    qp_ = std::make_unique<verbs::QueuePair>(verbs::make_queue_pair(pd, cq, options));
    return *qp_;
  }
  verbs::QueuePair& queue_pair() noexcept override { return *qp_; }
  void destroy_queue_pair() noexcept override { qp_.reset(); }
  void connect(std::span<const std::byte> /*private_data*/) override {}
  void accept(cm::EventHandler& /*handler*/) override {}
  void reject(std::span<const std::byte> /*data*/) noexcept override {}
  void disconnect() noexcept override {
    if (qp_) scripted_queue_pair().flush();
  }

  ScriptedQueuePair& scripted_queue_pair() const { return scripted(qp_->get()); }

 private:
  std::unique_ptr<verbs::QueuePair> qp_;
};

}  // namespace rdmablk::fuzz
