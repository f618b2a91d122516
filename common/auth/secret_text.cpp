#include "common/auth/secret_text.h"

#include <openssl/crypto.h>

namespace rdmablk::auth {

SecretText::~SecretText() {
  if (!bytes_.empty()) OPENSSL_cleanse(bytes_.data(), bytes_.size());
}

void SecretText::shrink(std::size_t size) noexcept {
  OPENSSL_cleanse(bytes_.data() + size, bytes_.size() - size);
  bytes_.resize(size);
}

}  // namespace rdmablk::auth
