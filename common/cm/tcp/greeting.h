#pragma once

#include <asio/steady_timer.hpp>
#include <functional>
#include <memory>
#include <string>

#include "common/cm/tcp/conversation.h"

namespace rdmablk::cm::tcp {

/// A TCP connection that has just come, until it says what it wants.
class Greeting {
 public:
  /// Is told what came of it, and may destroy the greeting.
  class Owner {
   public:
    /// It asks for a connection.
    virtual void on_request(Greeting& greeting, const Request& request) = 0;

    /// It is to be dropped. @param why for people; empty: it closed without a word.
    virtual void on_nothing(Greeting& greeting, const std::string& why) = 0;

   protected:
    ~Owner() = default;
  };

  /// Waits for it.
  /// @param owner outlives this. @param patience how long it may say nothing.
  Greeting(asio::ip::tcp::socket socket, std::chrono::milliseconds patience, Owner& owner);

  const std::string& peer() const noexcept { return peer_; }

  /// Turns it away. @param why for people.
  void refuse(const std::string& why);

  std::unique_ptr<Conversation> take_conversation() noexcept { return std::move(conversation_); }
  Conversation& conversation() noexcept { return *conversation_; }

 private:
  void take(const Conversation::Received& received);
  void take_message(const Conversation::Received& received);

  Owner& owner_;
  std::unique_ptr<Conversation> conversation_;
  std::string peer_;
  asio::steady_timer patience_;
  Lifetime lifetime_;
};

}  // namespace rdmablk::cm::tcp
