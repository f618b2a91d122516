#include "initiator/reattachment.h"

#include <gtest/gtest.h>

namespace rdmablk::initiator {
namespace {

protocol::AttachReply reply() {
  protocol::AttachReply reply;
  reply.info.uuid[0] = std::byte{1};
  reply.info.kind = protocol::ExportKind::file;
  reply.info.size = 4096;
  reply.access = protocol::Access::read_write;
  reply.lease = 3;
  return reply;
}

TEST(ReattachmentTest, WhereThingsLieAndEndMayChange) {
  auto now = reply();
  now.attachment = 9;
  now.table.rkey = 5;
  now.depth = 1;
  now.max_io = 512;
  now.info.size += 512;  // it may have been resized
  now.generation[0] = std::byte{1};
  EXPECT_EQ(difference(reply(), now), std::nullopt);
}

TEST(ReattachmentTest, WhatItIsMayNot) {
  const auto differs = [](auto change) {
    auto now = reply();
    change(now);
    return difference(reply(), now).has_value();
  };
  EXPECT_TRUE(differs([](auto& now) { now.info.uuid[15] = std::byte{1}; }));
  EXPECT_TRUE(differs([](auto& now) { now.info.kind = protocol::ExportKind::resident; }));
  EXPECT_TRUE(differs([](auto& now) { now.access = protocol::Access::read_only; }));
  EXPECT_TRUE(differs([](auto& now) { now.lease = 4; }));
}

}  // namespace
}  // namespace rdmablk::initiator
