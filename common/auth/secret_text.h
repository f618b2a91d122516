#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace rdmablk::auth {

/// Text that holds a secret: it is never copied, and wiped when it goes.
class SecretText {
 public:
  /// @param capacity bytes that it has room for.
  explicit SecretText(std::size_t capacity) : bytes_(capacity) {}
  explicit SecretText(std::string_view text) : bytes_(text.begin(), text.end()) {}
  ~SecretText();
  SecretText(SecretText&&) noexcept = default;
  SecretText& operator=(SecretText&&) = delete;
  SecretText(const SecretText&) = delete;
  SecretText& operator=(const SecretText&) = delete;

  /// Valid as long as this.
  std::string_view view() const noexcept { return {bytes_.data(), bytes_.size()}; }
  std::span<char> buffer() noexcept { return bytes_; }

  /// Forgets what comes after. @pre size is not more than it has.
  void shrink(std::size_t size) noexcept;

 private:
  std::vector<char> bytes_;
};

}  // namespace rdmablk::auth
