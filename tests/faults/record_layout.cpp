#include "tests/faults/record_layout.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <algorithm>
#include <cstring>
#include <random>

#include "common/error.h"

namespace rdmablk::testing {

namespace {

constexpr std::size_t kDigest = 32;
constexpr std::uint64_t kMagic = 0x64726f6365722062;  // "b record"

struct Header {
  std::uint64_t magic;
  std::uint64_t seed;
  std::uint64_t number;
  std::uint64_t version;
  std::uint64_t length;
};

/// Mostly small ones, now and then one of several requests.
std::size_t draw_length(std::mt19937_64& random) {
  constexpr std::size_t kLeast = sizeof(Header) + kDigest;
  const std::uint64_t kind = random() % 32;
  if (kind == 0) return kLeast + random() % 300'000;
  if (kind < 8) return kLeast + random() % 9'000;
  return kLeast + random() % 1'200;
}

std::mt19937_64 generator(const Header& header) {
  std::seed_seq sequence{header.seed, header.seed >> 32, header.number, header.version};
  return std::mt19937_64(sequence);
}

void fill(std::span<std::byte> payload, std::mt19937_64 random) {
  while (!payload.empty()) {
    const std::uint64_t word = random();
    const std::size_t count = std::min(payload.size(), sizeof word);
    std::memcpy(payload.data(), &word, count);
    payload = payload.subspan(count);
  }
}

void digest(std::span<const std::byte> data, std::byte* to) {
  if (EVP_Digest(data.data(), data.size(), reinterpret_cast<unsigned char*>(to), nullptr,
                 EVP_sha256(), nullptr) != 1) {
    throw Error("OpenSSL makes no SHA-256 of a record");
  }
}

}  // namespace

RecordLayout::RecordLayout(const Parameters& parameters) : parameters_(parameters) {
  std::mt19937_64 random(parameters.seed);
  const std::size_t places = parameters.rewrite ? 2 : 1;
  std::uint64_t offset = 0;
  for (std::uint64_t number = 0;; ++number) {
    const std::size_t length = draw_length(random);
    if (offset + places * length > parameters.size) break;
    records_.push_back({.number = number, .offset = offset, .length = length});
    offset += places * length;
  }
  if (records_.empty()) {
    throw Error(fmt::format("no record fits in {} bytes", parameters.size));
  }
}

std::uint64_t RecordLayout::offset(const Record& record, std::uint64_t version) const noexcept {
  return record.offset + (parameters_.rewrite ? version % 2 * record.length : 0);
}

std::vector<std::byte> RecordLayout::content(const Record& record, std::uint64_t version) const {
  const Header header{.magic = kMagic,
                      .seed = parameters_.seed,
                      .number = record.number,
                      .version = version,
                      .length = record.length};
  std::vector<std::byte> bytes(record.length);
  std::memcpy(bytes.data(), &header, sizeof header);
  const std::size_t before_digest = record.length - kDigest;
  fill(std::span(bytes).subspan(sizeof header, before_digest - sizeof header), generator(header));
  digest(std::span(bytes).first(before_digest), bytes.data() + before_digest);
  return bytes;
}

std::string RecordLayout::describe(const Record& record, std::uint64_t version,
                                   std::span<const std::byte> found) const {
  const auto is_zero = [](std::byte byte) { return byte == std::byte{}; };
  if (std::ranges::all_of(found, is_zero)) return "zeroes";
  const std::vector<std::byte> expected = content(record, version);
  Header header{};
  std::memcpy(&header, found.data(), std::min(found.size(), sizeof header));
  std::byte sum[kDigest];
  digest(found.first(found.size() - kDigest), sum);
  const bool whole = std::memcmp(sum, found.last(kDigest).data(), kDigest) == 0;
  if (whole && header.seed == parameters_.seed && header.number == record.number) {
    return fmt::format("version {}", header.version);
  }
  const auto differs = std::ranges::mismatch(expected, found).in1;
  return fmt::format("something else from byte {} on", differs - expected.begin());
}

}  // namespace rdmablk::testing
