#include "initiator/copy/stream_queue.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <string>
#include <thread>
#include <vector>

#include "common/unique_fd.h"

namespace rdmablk::copy {
namespace {

using initiator::Operation;
using initiator::Request;

struct Pipe {
  explicit Pipe(int flags = O_CLOEXEC) {
    std::array<int, 2> ends{};
    EXPECT_EQ(::pipe2(ends.data(), flags), 0);
    read_end.reset(ends[0]);
    write_end.reset(ends[1]);
  }
  UniqueFd read_end;
  UniqueFd write_end;
};

/// Takes so many requests that have ended.
void take(StreamQueue& queue, std::size_t count) {
  std::array<Request*, 8> done{};
  while (count > 0) {
    queue.kick();
    const std::size_t taken = queue.poll(done);
    count -= taken;
    if (taken > 0) continue;
    pollfd waiting{queue.fd(), POLLIN, 0};
    ::poll(&waiting, 1, -1);
  }
}

Request request(Operation operation, std::uint64_t offset, std::string& text) {
  Request request;
  request.operation = operation;
  request.offset = offset;
  request.length = text.size();
  request.data = reinterpret_cast<std::byte*>(text.data());
  return request;
}

void put(const UniqueFd& fd, const std::string& text) {
  EXPECT_EQ(::write(fd.get(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
}

TEST(StreamQueue, ReadsInOrderUntilTheEnd) {
  Pipe pipe;
  put(pipe.write_end, "abcde");
  pipe.write_end.reset();
  StreamQueue queue(pipe.read_end.get(), 8);
  std::array<std::string, 3> texts{"....", "....", "...."};
  std::array<Request, 3> requests{request(Operation::read, 0, texts[0]),
                                  request(Operation::read, 4, texts[1]),
                                  request(Operation::read, 8, texts[2])};
  for (Request& each : requests) queue.submit(each);
  take(queue, 3);
  EXPECT_EQ(texts[0], "abcd");
  EXPECT_EQ(requests[0].length, 4U);
  EXPECT_EQ(texts[1], "e...");
  EXPECT_EQ(requests[1].length, 1U);
  EXPECT_EQ(requests[2].length, 0U);
  EXPECT_TRUE(queue.is_quiet());
}

TEST(StreamQueue, ReadsAsMuchAsWasAskedForWhateverComesAtATime) {
  Pipe pipe;
  StreamQueue queue(pipe.read_end.get(), 8);
  std::string text = "......";
  Request read = request(Operation::read, 0, text);
  queue.submit(read);
  queue.kick();
  const std::jthread writer([&] {
    for (const char* part : {"ab", "cd", "ef"}) put(pipe.write_end, part);
  });
  take(queue, 1);
  EXPECT_EQ(text, "abcdef");
  EXPECT_EQ(read.length, 6U);
}

TEST(StreamQueue, WritesInTheOrderOfOffsets) {
  Pipe pipe;
  StreamQueue queue(pipe.write_end.get(), 8);
  std::string first = "first ";
  std::string third = "third";
  Request late = request(Operation::write, 6 + 4, third);
  Request zero;
  zero.operation = Operation::zero;
  zero.offset = 6;
  zero.length = 4;
  Request early = request(Operation::write, 0, first);
  queue.submit(late);
  queue.submit(zero);
  queue.kick();
  std::array<Request*, 8> done{};
  EXPECT_EQ(queue.poll(done), 0U);  // what comes before is not there yet
  queue.submit(early);
  take(queue, 3);
  std::string text(32, '?');
  text.resize(static_cast<std::size_t>(::read(pipe.read_end.get(), text.data(), text.size())));
  EXPECT_EQ(text, std::string("first \0\0\0\0third", 15));
}

TEST(StreamQueue, WaitsForADescriptorThatDoesNotBlock) {
  Pipe pipe(O_CLOEXEC | O_NONBLOCK);
  StreamQueue queue(pipe.read_end.get(), 8);
  std::string text = "..";
  Request read = request(Operation::read, 0, text);
  queue.submit(read);
  queue.kick();
  std::array<Request*, 8> done{};
  EXPECT_EQ(queue.poll(done), 0U);
  put(pipe.write_end, "ok");
  take(queue, 1);
  EXPECT_EQ(read.error, 0);
  EXPECT_EQ(text, "ok");
}

TEST(StreamQueue, SaysThatTheReaderWentAway) {
  std::signal(SIGPIPE, SIG_IGN);
  Pipe pipe;
  pipe.read_end.reset();
  StreamQueue queue(pipe.write_end.get(), 8);
  std::string text = "text";
  Request write = request(Operation::write, 0, text);
  queue.submit(write);
  take(queue, 1);
  EXPECT_EQ(write.error, EPIPE);
}

TEST(StreamQueue, GivesBackWhatWaits) {
  Pipe pipe;
  StreamQueue queue(pipe.write_end.get(), 8);
  std::string text = "text";
  Request late = request(Operation::write, 100, text);
  queue.submit(late);
  queue.kick();
  EXPECT_TRUE(queue.cancel(late));
  EXPECT_FALSE(queue.cancel(late));
  EXPECT_TRUE(queue.is_quiet());
}

TEST(StreamQueue, HasNothingToFlush) {
  Pipe pipe;
  StreamQueue queue(pipe.write_end.get(), 8);
  Request flush;
  flush.operation = Operation::flush;
  queue.submit(flush);
  take(queue, 1);
  EXPECT_EQ(flush.error, 0);
}

}  // namespace
}  // namespace rdmablk::copy
