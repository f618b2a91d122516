#include "tests/fuzz/scripted_manager.h"

#include <asio/post.hpp>
#include <utility>

#include "common/error.h"
#include "tests/fuzz/input.h"

namespace rdmablk::fuzz {
namespace {

ConnectionScript* current_script = nullptr;

}  // namespace

ScriptedManager::ScriptedManager(asio::io_context& io) : io_(io), devices_{scripted_context()} {}

ScriptedManager::~ScriptedManager() = default;

void ScriptedManager::use(ConnectionScript* script) noexcept {
  current_script = script;
}

void ScriptedManager::process() {
  while (!due_.empty()) {
    const Due next = due_.front();
    due_.erase(due_.begin());
    next.connection->handler().on_event(*next.connection, next.event);
  }
}

std::unique_ptr<cm::Listener> ScriptedManager::listen(const SocketAddress& /*address*/,
                                                      cm::RequestHandler& /*handler*/) {
  throw Error("a scripted manager does not listen");
}

std::unique_ptr<cm::Connection> ScriptedManager::open(const SocketAddress& /*peer*/,
                                                      cm::EventHandler& handler) {
  auto connection = std::make_unique<ManagedConnection>(*this, *current_script, handler);
  connection->tell(current_script->on_open());
  return connection;
}

void ScriptedManager::tell(ManagedConnection& connection, const cm::Event& event) {
  due_.push_back({&connection, event});
  asio::post(io_, lifetime_.guard([this] { process(); }));
}

void ScriptedManager::drop(const ManagedConnection& connection) noexcept {
  std::erase_if(due_, [&](const Due& due) { return due.connection == &connection; });
}

ManagedConnection::~ManagedConnection() {
  manager_.drop(*this);
  script_.on_destroyed(*this);
}

void ManagedConnection::connect(std::span<const std::byte> private_data) {
  require(private_data.size() <= cm::kMaxPrivateData, "private data fits a request");
  tell(script_.on_connect(*this, private_data));
}

}  // namespace rdmablk::fuzz

namespace rdmablk::cm {

std::unique_ptr<ConnectionManager> make_manager(Method /*method*/, asio::io_context& io,
                                                const Settings& /*settings*/) {
  return std::make_unique<fuzz::ScriptedManager>(io);
}

}  // namespace rdmablk::cm
