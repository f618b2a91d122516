#include "initiator/copy/transfer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>

#include "common/error.h"
#include "initiator/copy/stream_image.h"
#include "initiator/copy/transfer_report.h"
#include "tests/unit/copy/memory_image.h"
#include "tests/unit/copy/scratch_file.h"

namespace rdmablk::copy {
namespace {

TransferOptions quiet() {
  TransferOptions options;
  options.shows_progress = false;
  options.block_size = 4096;
  return options;
}

TransferResult copy(const std::string& from, const std::string& to,
                    const TransferOptions& options) {
  Endpoint source = Endpoint::source_file(from);
  Endpoint destination = Endpoint::destination_file(to);
  return Transfer(source, destination, {0, 0, source.size()}, options).run();
}

TEST(Transfer, CopiesAFileAndKeepsItsHoles) {
  const ScratchFile from;
  from.write("begin");
  std::filesystem::resize_file(from.path(), 10 << 20U);
  const ScratchFile to;
  TransferOptions options = quiet();
  options.verify = true;
  const auto result = copy(from.path(), to.path(), options);
  EXPECT_EQ(to.read(), from.read());
  EXPECT_EQ(result.data_bytes + result.zero_bytes, 10U << 20U);
  EXPECT_GE(result.zero_bytes, 10U << 19U);
  EXPECT_TRUE(result.verified);
  struct stat status {};
  ASSERT_EQ(::stat(to.path().c_str(), &status), 0);
  EXPECT_LT(status.st_blocks * 512, 1 << 20);
}

TEST(Transfer, WritesEveryByteWhenToldTo) {
  const ScratchFile from;
  from.write(std::string(100000, '\0'));
  const ScratchFile to;
  TransferOptions options = quiet();
  options.sparse_unit.reset();
  EXPECT_EQ(copy(from.path(), to.path(), options).data_bytes, 100000U);
  EXPECT_EQ(to.read(), from.read());
}

TEST(Transfer, CopiesAnEmptyFile) {
  const ScratchFile from;
  from.write("");
  const ScratchFile to;
  to.write("what was there before");
  copy(from.path(), to.path(), quiet());
  EXPECT_EQ(to.read(), "");
}

TEST(Transfer, WritesAPattern) {
  Endpoint source = Endpoint::generated(Pattern::of({std::byte{'a'}, std::byte{'b'}}), 5);
  const ScratchFile to;
  Endpoint destination = Endpoint::destination_file(to.path());
  Transfer(source, destination, {0, 0, 5}, quiet()).run();
  EXPECT_EQ(to.read(), "ababa");
}

/// Two images in memory, and what becomes of them.
class MemoryTransfer : public testing::Test {
 protected:
  MemoryTransfer() {
    options.verify = true;
    for (std::size_t i = 0; i < kSize; ++i) source.bytes[i] = std::byte(i % 255 + 1);
  }

  /// @return the error; empty: none.
  std::string run() {
    try {
      Transfer(from, to, {0, 0, kSize}, options).run();
      return {};
    } catch (const Error& error) {
      return error.what();
    }
  }

  static constexpr std::size_t kSize = 100000;

  TransferOptions options = quiet();
  Endpoint from{"SRC", std::make_unique<MemoryImage>(kSize)};
  Endpoint to{"DST", std::make_unique<MemoryImage>(kSize)};
  MemoryImage& source = dynamic_cast<MemoryImage&>(from.image());
  MemoryImage& destination = dynamic_cast<MemoryImage&>(to.image());
};

TEST_F(MemoryTransfer, FlushesOnceAllIsWritten) {
  EXPECT_EQ(run(), "");
  EXPECT_EQ(destination.bytes, source.bytes);
  EXPECT_EQ(destination.count(initiator::Operation::flush), 1U);
}

TEST_F(MemoryTransfer, VerifyingFindsAByteThatChangedMeanwhile) {
  destination.fails = [this](const initiator::Request& request) {
    if (request.operation == initiator::Operation::flush) destination.bytes[77777] ^= std::byte{1};
    return 0;
  };
  EXPECT_THAT(run(), testing::StartsWith("SRC and DST differ at offset 77777: 0x"));
}

TEST_F(MemoryTransfer, SaysWhichEndFailedAndWhere) {
  const auto at_8192 = [](const initiator::Request& request) {
    return request.offset == 8192 ? EIO : 0;
  };
  source.fails = at_8192;
  EXPECT_EQ(run(),
            "cannot read 4096 bytes at offset 8192 of SRC: Input/output error; DST is incomplete");
  source.fails = [](const initiator::Request&) { return 0; };
  destination.fails = at_8192;
  EXPECT_EQ(run(),
            "cannot write 4096 bytes at offset 8192 of DST: Input/output error; DST is incomplete");
}

/// What comes behind the gap must not be waited for.
TEST_F(MemoryTransfer, AGapInAStreamEndsIt) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  const UniqueFd read_end(ends[0]);
  const UniqueFd write_end(ends[1]);
  Endpoint stream("stream", std::make_unique<StreamImage>(write_end.get(), "stream"));
  source.fails = [](const initiator::Request& request) { return request.offset == 8192 ? EIO : 0; };
  options.verify = false;
  EXPECT_THROW(Transfer(from, stream, {0, 0, kSize}, options).run(), Error);
}

TEST_F(MemoryTransfer, AFailedFlushIsAFailure) {
  destination.fails = [](const initiator::Request& request) {
    return request.operation == initiator::Operation::flush ? ENOSPC : 0;
  };
  EXPECT_EQ(run(), "cannot flush DST: No space left on device; it may lose what was written");
}

TEST_F(MemoryTransfer, ZeroesWithoutReading) {
  Transfer transfer(from, to, {0, 0, kSize}, quiet());
  transfer.only_zero(true);
  EXPECT_EQ(transfer.run().zero_bytes, kSize);
  EXPECT_TRUE(source.requests.empty());
  EXPECT_EQ(destination.total(initiator::Operation::discard), kSize);
}

TEST(KindOf, KnowsUrisFilesAndStreams) {
  EXPECT_EQ(kind_of("-"), EndpointKind::stream);
  EXPECT_EQ(kind_of("./-"), EndpointKind::disk);
  EXPECT_EQ(kind_of("/dev/sda"), EndpointKind::disk);
  EXPECT_EQ(kind_of("rdmablk"), EndpointKind::disk);
  EXPECT_EQ(kind_of("rdmablk://host/disk"), EndpointKind::remote);
  EXPECT_THROW(kind_of("rdmablk://host"), UsageError);
  EXPECT_THROW(kind_of("rdmablk:/host/disk"), UsageError);  // no file that somebody means
}

TEST(TransferText, SaysWhatWasDone) {
  TransferResult result;
  result.data_bytes = 3U << 20U;
  result.zero_bytes = 1U << 20U;
  result.elapsed = std::chrono::seconds(2);
  EXPECT_EQ(transfer_text("copied", result),
            "4 MiB copied, 1 MiB of that zeroes, in 2.00 s: 2.0 MiB/s\n");
  result.data_bytes = 0;
  EXPECT_EQ(transfer_text("copied", result),
            "1 MiB copied, all of it zeroes, in 2.00 s: 0.5 MiB/s\n");
  EXPECT_EQ(transfer_text(kZeroed, result), "1 MiB zeroed, in 2.00 s: 0.5 MiB/s\n");
  result.data_bytes = 3U << 20U;
  result.zero_bytes = 0;
  result.verified = true;
  EXPECT_EQ(transfer_text("copied", result), "3 MiB copied, in 2.00 s: 1.5 MiB/s; verified\n");
}

TEST(TransferJson, HasAllFigures) {
  TransferResult result;
  result.data_bytes = 3;
  result.zero_bytes = 1;
  result.elapsed = std::chrono::seconds(2);
  cli::Json document = cli::new_document();
  add_transfer(document, result);
  EXPECT_EQ(document, cli::Json::parse(R"({"version": 1, "size_bytes": 4, "data_bytes": 3,
      "zero_bytes": 1, "elapsed_ns": 2000000000, "bandwidth_bytes_per_second": 2,
      "verified": false})"));
}

}  // namespace
}  // namespace rdmablk::copy
