#pragma once

#include <memory>
#include <utility>

namespace rdmablk {

/// A member of whoever hands callbacks to an event loop: a callback may be queued already when its
/// object is destroyed, and then does nothing. One thread.
class Lifetime {
 public:
  Lifetime() = default;
  Lifetime(const Lifetime&) = delete;
  Lifetime& operator=(const Lifetime&) = delete;

  /// Wraps a callback so that it is called only as long as this lives.
  template <typename Callback>
  auto guard(Callback callback) const {
    return [token = std::weak_ptr<const char>(token_),
            callback = std::move(callback)](auto&&... arguments) {
      if (!token.expired()) callback(std::forward<decltype(arguments)>(arguments)...);
    };
  }

 private:
  std::shared_ptr<const char> token_ = std::make_shared<const char>();
};

}  // namespace rdmablk
