#include "initiator/null_image.h"

#include <gtest/gtest.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "common/error.h"

namespace rdmablk::initiator {
namespace {

constexpr std::uint64_t kSize = 64 * 1024;

class NullImageTest : public testing::Test {
 protected:
  Request request(Operation operation, std::uint64_t offset, std::uint64_t length) {
    Request request;
    request.operation = operation;
    request.offset = offset;
    request.length = length;
    request.data = buffers_->bytes().data();
    return request;
  }

  /// Works on a request to its end. @return its error.
  int perform(Request& request) {
    queue_->submit(request);
    queue_->kick();
    std::array<Request*, 4> done{};
    EXPECT_EQ(queue_->poll(done), 1U);
    EXPECT_EQ(done[0], &request);
    return request.error;
  }

  int perform(Operation operation, std::uint64_t offset, std::uint64_t length) {
    Request one = request(operation, offset, length);
    return perform(one);
  }

  void fill(std::byte value, std::size_t length) {
    std::fill_n(buffers_->bytes().begin(), length, value);
  }

  bool is_readable() const {
    pollfd source{queue_->fd(), POLLIN, 0};
    return ::poll(&source, 1, 0) == 1;
  }

  NullImage image_{"null", kSize, false};
  std::unique_ptr<Queue> queue_ = image_.make_queue(8);
  std::unique_ptr<RequestBuffers> buffers_ = image_.make_buffers(kSize);
};

TEST_F(NullImageTest, ReadsWhatWasWritten) {
  fill(std::byte{7}, 100);
  EXPECT_EQ(perform(Operation::write, 511, 100), 0);
  fill(std::byte{0}, 300);
  EXPECT_EQ(perform(Operation::read, 411, 300), 0);
  const auto bytes = buffers_->bytes();
  EXPECT_EQ(std::count(bytes.begin(), bytes.begin() + 300, std::byte{7}), 100);
  EXPECT_EQ(bytes[99], std::byte{0});
  EXPECT_EQ(bytes[100], std::byte{7});
}

TEST_F(NullImageTest, StartsAsZeroesAndZeroMakesThem) {
  fill(std::byte{7}, kSize);
  EXPECT_EQ(perform(Operation::read, 0, kSize), 0);
  EXPECT_EQ(buffers_->bytes()[kSize - 1], std::byte{0});
  fill(std::byte{7}, kSize);
  EXPECT_EQ(perform(Operation::write, 0, kSize), 0);
  EXPECT_EQ(perform(Operation::zero, 1, kSize - 2), 0);
  EXPECT_EQ(perform(Operation::read, 0, kSize), 0);
  const auto bytes = buffers_->bytes();
  EXPECT_EQ(std::count(bytes.begin(), bytes.begin() + kSize, std::byte{0}), kSize - 2);
}

TEST_F(NullImageTest, RefusesWhatIsOutOfBounds) {
  EXPECT_EQ(perform(Operation::read, kSize - 1, 2), EINVAL);
  EXPECT_EQ(perform(Operation::write, kSize + 1, 0), EINVAL);
  EXPECT_EQ(perform(Operation::zero, 1, UINT64_MAX), EINVAL);
  EXPECT_EQ(perform(Operation::read, kSize, 0), 0);
  EXPECT_EQ(perform(Operation::flush, 0, 0), 0);
}

TEST_F(NullImageTest, CompletesInOrderAndAsFarAsThereIsRoom) {
  std::array<Request, 3> requests{request(Operation::read, 0, 1), request(Operation::flush, 0, 0),
                                  request(Operation::read, 1, 1)};
  for (Request& one : requests) queue_->submit(one);
  std::array<Request*, 2> done{};
  EXPECT_EQ(queue_->poll(done), 0U);
  queue_->kick();
  EXPECT_EQ(queue_->poll(done), 2U);
  EXPECT_EQ(done[0], &requests[0]);
  EXPECT_EQ(queue_->poll(done), 1U);
  EXPECT_EQ(done[0], &requests[2]);
}

TEST_F(NullImageTest, DescriptorTellsOfCompletionsOnceArmed) {
  Request one = request(Operation::flush, 0, 0);
  EXPECT_FALSE(is_readable());
  queue_->arm();
  EXPECT_FALSE(is_readable());
  queue_->submit(one);
  queue_->kick();
  EXPECT_TRUE(is_readable());
  std::array<Request*, 2> done{};
  EXPECT_EQ(queue_->poll(done), 1U);
  queue_->arm();
  EXPECT_FALSE(is_readable());
}

TEST(NullImage, LargerThanMemory) {
  EXPECT_THROW(NullImage("null", std::uint64_t{1} << 60U, false), SystemError);
}

}  // namespace
}  // namespace rdmablk::initiator
