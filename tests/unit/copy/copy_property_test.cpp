// Whatever the sizes, offsets, holes and options: the destination becomes what the source is.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <random>

#include "initiator/cli/map_reader.h"
#include "initiator/copy/copy_worker.h"
#include "initiator/copy/disk_image.h"
#include "initiator/copy/zero_runs.h"
#include "tests/unit/copy/memory_image.h"
#include "tests/unit/copy/scratch_file.h"

namespace rdmablk::copy {
namespace {

class Random {
 public:
  explicit Random(unsigned seed) : random_(seed) {}
  std::uint64_t below(std::uint64_t bound) { return random_() % bound; }
  bool chance() { return below(2) == 0; }

 private:
  std::mt19937_64 random_;
};

/// Bytes in which stretches of zeroes and of data take turns.
void fill(std::span<std::byte> bytes, Random& random) {
  while (!bytes.empty()) {
    const std::size_t length = std::min<std::size_t>(random.below(20000) + 1, bytes.size());
    if (random.chance()) {
      for (std::byte& byte : bytes.first(length)) byte = std::byte(random.below(256));
    }
    bytes = bytes.subspan(length);
  }
}

/// What a map of some bytes may say: a hole is zero, and zeroes may be a hole.
CopyPlan::Map random_map(const std::vector<std::byte>& bytes, std::uint64_t from, Random& random) {
  return [&bytes, from, &random](std::uint64_t offset, std::uint64_t length) {
    std::vector<protocol::Extent> extents;
    while (length > 0) {
      const std::uint64_t piece = std::min<std::uint64_t>(random.below(9000) + 1, length);
      const bool is_zeroes = is_zero(std::span(bytes).subspan(from + offset, piece));
      extents.push_back({piece, is_zeroes && random.chance()});
      offset += piece;
      length -= piece;
    }
    return extents;
  };
}

TEST(CopyProperty, MemoryBecomesTheSame) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    Random random(seed);
    MemoryImage source(random.below(200000) + 1);
    fill(source.bytes, random);
    MemoryImage destination(source.bytes.size() + random.below(5000));
    for (std::byte& byte : destination.bytes) byte = std::byte{0xee};
    const std::uint64_t from = random.below(source.bytes.size());
    const std::uint64_t length = random.below(source.bytes.size() - from) + 1;
    const std::uint64_t to = random.below(destination.bytes.size() - length + 1);
    auto expected = destination.bytes;
    std::copy_n(source.bytes.begin() + static_cast<std::ptrdiff_t>(from), length,
                expected.begin() + static_cast<std::ptrdiff_t>(to));

    const std::size_t block = random.below(30000) + 1;
    Lane lane({{&source, from}, {&destination, to}}, static_cast<unsigned>(random.below(5) + 1),
              block);
    CopyPlan plan({length, block, random.below(50000) + 1,
                   random.chance() ? random_map(source.bytes, from, random) : CopyPlan::Map{}});
    CopyWorker worker(lane, plan,
                      {random.chance() ? Zeroes::discard : Zeroes::write, random.below(3000)});
    worker.run();
    ASSERT_FALSE(worker.failure()) << "seed " << seed;
    ASSERT_EQ(destination.bytes, expected) << "seed " << seed;
    ASSERT_EQ(worker.data_bytes() + worker.zero_bytes(), length) << "seed " << seed;
  }
}

TEST(CopyProperty, FilesBecomeTheSame) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    Random random(seed);
    MemoryImage image(random.below(3000000) + 1);
    fill(image.bytes, random);
    const ScratchFile file;
    const std::size_t block = random.below(300000) + 512;
    {
      const auto disk = DiskImage::open_for_writing(file.path());
      Lane lane({{&image}, {disk.get()}}, 4, block);
      disk->begin(image.bytes.size());
      CopyPlan plan({image.bytes.size(), block, block, {}});
      CopyWorker worker(lane, plan, {Zeroes::skip, random.below(3000)});
      worker.run();
      ASSERT_FALSE(worker.failure()) << "seed " << seed;
    }
    ASSERT_EQ(std::filesystem::file_size(file.path()), image.bytes.size()) << "seed " << seed;
    const auto disk = DiskImage::open_for_reading(file.path());
    MemoryImage back(image.bytes.size());
    for (std::byte& byte : back.bytes) byte = std::byte{0xee};
    cli::MapReader map(*disk);
    Lane lane({{disk.get()}, {&back}}, 4, block);
    CopyPlan plan(
        {image.bytes.size(), block, block,
         [&](std::uint64_t offset, std::uint64_t length) { return map.read(offset, length); }});
    CopyWorker worker(lane, plan, {});
    worker.run();
    ASSERT_FALSE(worker.failure()) << "seed " << seed;
    ASSERT_EQ(back.bytes, image.bytes) << "seed " << seed;
  }
}

}  // namespace
}  // namespace rdmablk::copy
