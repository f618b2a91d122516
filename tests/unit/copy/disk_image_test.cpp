#include "initiator/copy/disk_image.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "common/error.h"
#include "common/unique_fd.h"
#include "tests/unit/copy/scratch_file.h"

namespace rdmablk::copy {
namespace {

using initiator::Operation;
using initiator::Request;

int perform(initiator::Image& image, Request request) {
  const auto queue = image.make_queue(4);
  queue->submit(request);
  queue->kick();
  Request* done = nullptr;
  while (queue->poll({&done, 1}) == 0) {
    pollfd waiting{queue->fd(), POLLIN, 0};
    ::poll(&waiting, 1, -1);
  }
  return request.error;
}

Request request(Operation operation, std::uint64_t offset, std::uint64_t length,
                std::byte* data = nullptr) {
  Request request;
  request.operation = operation;
  request.offset = offset;
  request.length = length;
  request.data = data;
  return request;
}

TEST(DiskImage, RemovesTheFileThatItMadeUnlessItBegan) {
  const ScratchFile file;
  DiskImage::open_for_writing(file.path());
  EXPECT_FALSE(std::filesystem::exists(file.path()));
  DiskImage::open_for_writing(file.path())->begin(100);
  EXPECT_EQ(std::filesystem::file_size(file.path()), 100U);
}

TEST(DiskImage, LeavesAFileAsItIsUntilItBegins) {
  const ScratchFile file;
  file.write("content");
  DiskImage::open_for_writing(file.path());
  EXPECT_EQ(file.read(), "content");
  DiskImage::open_for_writing(file.path())->begin(3);
  EXPECT_EQ(file.read(), std::string(3, '\0'));
}

TEST(DiskImage, LeavesAFileAloneThatAnotherHasLocked) {
  const ScratchFile file;
  file.write("abc");
  const UniqueFd other(::open(file.path().c_str(), O_RDWR | O_CLOEXEC));
  ASSERT_EQ(::flock(other.get(), LOCK_SH | LOCK_NB), 0);
  EXPECT_THROW(DiskImage::open_for_writing(file.path()), Error);
  EXPECT_EQ(DiskImage::open_for_reading(file.path())->size(), 3U);
  ASSERT_EQ(::flock(other.get(), LOCK_UN), 0);
  const auto image = DiskImage::open_for_writing(file.path());
  EXPECT_EQ(::flock(other.get(), LOCK_SH | LOCK_NB), -1) << "it is being written to";
}

TEST(DiskImage, KnowsTheSameFileByAnyName) {
  const ScratchFile file;
  file.write("content");
  const std::string link = file.path() + "-link";
  ASSERT_EQ(::link(file.path().c_str(), link.c_str()), 0);
  const auto image = DiskImage::open_for_reading(file.path());
  EXPECT_TRUE(image->is_same_as(*DiskImage::open_for_writing(link)));
  EXPECT_FALSE(image->is_same_as(*DiskImage::open_for_writing(file.path() + "-other")));
}

TEST(DiskImage, RefusesWhatIsNoImage) {
  EXPECT_THROW(DiskImage::open_for_reading("/"), Error);
  EXPECT_THROW(DiskImage::open_for_writing("/dev/null"), Error);
  EXPECT_THROW(DiskImage::open_for_reading("/nonexistent"), SystemError);
  const ScratchFile file;
  ASSERT_EQ(::mkfifo(file.path().c_str(), 0600), 0);
  EXPECT_THROW(DiskImage::open_for_reading(file.path()), Error);  // and does not wait for a writer
}

TEST(DiskQueue, ReadsWritesAndZeroes) {
  const ScratchFile file;
  file.write(std::string(10000, 'a'));
  const auto image = DiskImage::open_for_writing(file.path());
  std::string text = "text";
  auto* const data = reinterpret_cast<std::byte*>(text.data());
  EXPECT_EQ(perform(*image, request(Operation::write, 100, 4, data)), 0);
  EXPECT_EQ(perform(*image, request(Operation::flush, 0, 0)), 0);
  EXPECT_EQ(file.read().substr(99, 6), "atexta");
  for (const Operation operation : {Operation::zero, Operation::discard}) {
    EXPECT_EQ(perform(*image, request(Operation::write, 5000, 4, data)), 0);
    EXPECT_EQ(perform(*image, request(operation, 5001, 4000)), 0);
    EXPECT_EQ(file.read().substr(4999, 3), std::string("at\0", 3));
    EXPECT_EQ(file.read().substr(9000, 2), std::string("\0a", 2));
  }
  text = "????";
  EXPECT_EQ(perform(*image, request(Operation::read, 100, 4, data)), 0);
  EXPECT_EQ(text, "text");
}

TEST(DiskQueue, SaysThatTheFileIsShorterNow) {
  const ScratchFile file;
  file.write("short");
  std::string text(10, '?');
  EXPECT_EQ(perform(*DiskImage::open_for_reading(file.path()),
                    request(Operation::read, 0, 10, reinterpret_cast<std::byte*>(text.data()))),
            ENODATA);
}

TEST(DiskQueue, PassesErrorsOn) {
  const ScratchFile file;
  file.write("text");
  std::string text = "x";
  EXPECT_EQ(perform(*DiskImage::open_for_reading(file.path()),
                    request(Operation::write, 0, 1, reinterpret_cast<std::byte*>(text.data()))),
            EBADF);
}

}  // namespace
}  // namespace rdmablk::copy
