#include "common/auth/hmac.h"

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/params.h>

#include <memory>
#include <string>

#include "common/error.h"

namespace rdmablk::auth {
namespace {

struct FreeMac {
  void operator()(EVP_MAC* mac) const noexcept { EVP_MAC_free(mac); }
  void operator()(EVP_MAC_CTX* context) const noexcept { EVP_MAC_CTX_free(context); }
};

const unsigned char* as_unsigned(std::span<const std::byte> bytes) {
  return reinterpret_cast<const unsigned char*>(bytes.data());
}

void check(bool done) {
  if (!done) throw Error("cannot compute an HMAC-SHA256: the OpenSSL library does not offer it");
}

}  // namespace

Digest hmac_sha256(std::span<const std::byte> key,
                   std::initializer_list<std::span<const std::byte>> parts) {
  const std::unique_ptr<EVP_MAC, FreeMac> mac(EVP_MAC_fetch(nullptr, OSSL_MAC_NAME_HMAC, nullptr));
  check(mac != nullptr);
  const std::unique_ptr<EVP_MAC_CTX, FreeMac> context(EVP_MAC_CTX_new(mac.get()));
  check(context != nullptr);
  std::string name = OSSL_DIGEST_NAME_SHA2_256;
  const std::array parameters{
      OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, name.data(), name.size()),
      OSSL_PARAM_construct_end()};
  check(EVP_MAC_init(context.get(), as_unsigned(key), key.size(), parameters.data()) == 1);
  for (const auto part : parts) {
    check(EVP_MAC_update(context.get(), as_unsigned(part), part.size()) == 1);
  }
  Digest digest{};
  std::size_t size = 0;
  check(EVP_MAC_final(context.get(), reinterpret_cast<unsigned char*>(digest.data()), &size,
                      digest.size()) == 1 &&
        size == digest.size());
  return digest;
}

bool equal_in_constant_time(std::span<const std::byte, kDigestSize> a,
                            std::span<const std::byte, kDigestSize> b) noexcept {
  return CRYPTO_memcmp(a.data(), b.data(), kDigestSize) == 0;
}

}  // namespace rdmablk::auth
