// That requests allocate nothing. All that C++ allocates in this program goes through here.
#include <array>
#include <cstdlib>
#include <new>
#include <string_view>

#include "library_user.h"

namespace {

thread_local std::size_t allocations = 0;

}  // namespace

void* operator new(std::size_t size) {
  ++allocations;
  if (void* const memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t /*size*/) noexcept {
  std::free(memory);
}

namespace rdmablk::testing {
namespace {

constexpr std::size_t kPage = 4096;

/// A hundred requests of each kind, eight at a time. @return how many failed.
int run_requests(rdmablk_queue* queue, rdmablk_memory* memory) {
  int failures = 0;
  std::array<rdmablk_completion, 8> completions{};
  for (unsigned i = 0; i < 300; ++i) {
    std::byte* const data = data_of(memory) + i % 8 * kPage;
    const std::int64_t request =
        i % 3 == 0   ? rdmablk_write(queue, memory, data, kPage, 0, 0, nullptr)
        : i % 3 == 1 ? rdmablk_read(queue, memory, data, kPage, 0, RDMABLK_MORE, nullptr)
                     : rdmablk_flush(queue, 0, nullptr);
    if (request < 0) ++failures;
    if (rdmablk_pending(queue) < 8) continue;
    const int count = rdmablk_wait(queue, completions.data(), 8, kPatience);
    for (int k = 0; k < count; ++k) {
      if (completions[static_cast<std::size_t>(k)].error != 0) ++failures;
    }
  }
  while (rdmablk_pending(queue) > 0) rdmablk_wait(queue, completions.data(), 8, kPatience);
  return failures;
}

TEST(LibraryAllocationTest, RequestsAllocateNothing) {
  // The software device allocates, in this process.
  const char* const preloaded = std::getenv("LD_PRELOAD");
  if (preloaded != nullptr &&
      std::string_view(preloaded).find("softverbs") != std::string_view::npos) {
    GTEST_SKIP() << "it takes a device of the kernel's";
  }
  const TargetProcess target({"--export", "disk=memory:1M"});
  const auto image = connect(target, "disk");
  rdmablk_queue* const queue = queue_of(image);
  rdmablk_memory* const memory = memory_of(image, 8 * kPage);
  std::array<std::byte, 2 * kPage> own{};
  ASSERT_EQ(rdmablk_pwrite(queue, own.data(), own.size(), 0, 0), 0);  // the first one does
  for (const bool is_watched : {false, true}) {
    if (is_watched) {
      ASSERT_GE(rdmablk_queue_fd(queue), 0);
    }
    const std::size_t before = allocations;
    ASSERT_GT(before, 0U);
    const int failures = run_requests(queue, memory);
    const int result = rdmablk_pread(queue, own.data(), own.size(), 0);
    const std::size_t after = allocations;
    EXPECT_EQ(after - before, 0U);
    EXPECT_EQ(failures, 0);
    EXPECT_EQ(result, 0);
  }
}

}  // namespace
}  // namespace rdmablk::testing
