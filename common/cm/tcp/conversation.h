#pragma once

#include <array>
#include <asio/ip/tcp.hpp>
#include <functional>
#include <memory>
#include <span>

#include "common/cm/tcp/exchange.h"
#include "common/lifetime.h"

namespace rdmablk::cm::tcp {

/// A TCP connection over which messages come one at a time. Control thread.
class Conversation {
 public:
  /// What came.
  struct Received {
    enum class Kind {
      message,   ///< `header` and `body`
      nonsense,  ///< bytes that are no message
      ended,     ///< nothing more will come: `error`, or the other end closed it
    };
    Kind kind = Kind::ended;
    Header header{};
    std::span<const std::byte> body{};  ///< valid during the call only
    asio::error_code error{};
  };
  using Taker = std::function<void(const Received&)>;

  /// @param socket connected, or to be connected by start().
  explicit Conversation(asio::ip::tcp::socket socket)
      : wire_(std::make_shared<Wire>(std::move(socket))) {}
  ~Conversation();
  Conversation(const Conversation&) = delete;
  Conversation& operator=(const Conversation&) = delete;

  /// Connects; `connected` is called with what came of it.
  void start(const asio::ip::tcp::endpoint& peer,
             std::function<void(const asio::error_code&)> connected);

  /// Reads the next message, and gives it to `take`, which may destroy this. One at a time.
  void read(Taker take);

  /// Sends a message. It is short, and one of few: it never waits.
  /// @return whether the kernel took it.
  bool send(std::span<const std::byte> message) noexcept;

  /// Says that nothing more will be sent, and takes nothing more.
  void shut_down() noexcept;

  /// This end's address, and the other's; unspecified when it is not connected.
  asio::ip::tcp::endpoint local() const noexcept;
  asio::ip::tcp::endpoint remote() const noexcept;

  asio::ip::tcp::socket& socket() noexcept { return wire_->socket; }

 private:
  /// What a reading of Asio's uses until it is through, be it after this is gone.
  struct Wire {
    explicit Wire(asio::ip::tcp::socket connected) : socket(std::move(connected)) {}

    asio::ip::tcp::socket socket;
    std::array<std::byte, Header::kSize> header{};
    std::array<std::byte, kMaxBody> body{};
  };

  void take_header(const asio::error_code& error);
  void take_body(const asio::error_code& error);
  void give(const Received& received);

  std::shared_ptr<Wire> wire_;
  Header header_;
  Taker take_;
  Lifetime lifetime_;
};

}  // namespace rdmablk::cm::tcp
