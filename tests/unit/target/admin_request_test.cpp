#include "target/admin_request.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rdmablk::target {
namespace {

using ::testing::HasSubstr;
using Change = ExportResizing::Change;

/// Of a request that is read.
AdminRequest read(const std::string& line) {
  auto decoded = decode_admin_request(line);
  if (const auto* const refusal = std::get_if<AdminRefusal>(&decoded)) {
    ADD_FAILURE() << line << ": " << refusal->reason;
    return {};
  }
  return std::get<AdminRequest>(decoded);
}

template <typename Order>
Order order(const std::string& members) {
  const auto request = read(R"({"version":1,)" + members + "}");
  const auto* const found = std::get_if<Order>(&request.order);
  if (found == nullptr) ADD_FAILURE() << members;
  return found != nullptr ? *found : Order{};
}

AdminRefusal refusal(const std::string& line) {
  auto decoded = decode_admin_request(line);
  const auto* const found = std::get_if<AdminRefusal>(&decoded);
  if (found == nullptr) ADD_FAILURE() << line << " is not refused";
  return found != nullptr ? *found : AdminRefusal{};
}

/// Why members are refused, of a request that has a version.
std::string complaint(const std::string& members) {
  return refusal(R"({"version":1,)" + members + "}").reason;
}

TEST(AdminRequestTest, TellsUsageFromAnotherVersion) {
  for (const char* const members :
       {R"("request":"export_add","export":"a")", R"("request":"export_add","export":"a=disk:1M")",
        R"("request":"export_add","export":"a=memory:1M,frob")", R"("request":"export_add")",
        R"("request":"export_remove","name":"a/b")",
        R"("request":"export_resize","name":"a","size":"1X")",
        R"("request":"session_evict","session":-1)"}) {
    EXPECT_TRUE(refusal(std::string(R"({"version":1,)") + members + "}").is_usage) << members;
  }
  for (const char* const line :
       {"text", R"({"version":2,"request":"status"})", R"({"version":1,"request":"none"})",
        R"({"version":1,"request":"status","more":1})"}) {
    EXPECT_FALSE(refusal(line).is_usage) << line;
  }
}

TEST(AdminRequestTest, ReadsQuestions) {
  order<StatusQuery>(R"("request":"status")");
  order<ExportsQuery>(R"("request":"exports")");
  order<SessionsQuery>(R"("request":"sessions")");
  order<ReloadOrder>(R"("request":"reload")");
  EXPECT_FALSE(read(R"({"version":1,"request":"sessions"})").is_change());
  EXPECT_TRUE(read(R"({"version":1,"request":"reload"})").is_change());
}

TEST(AdminRequestTest, KeepsTheId) {
  EXPECT_EQ(read(R"({"version":1,"request":"status"})").id, "null");
  EXPECT_EQ(read(R"({"version":1,"request":"status","id":7})").id, "7");
  EXPECT_EQ(read(R"({"version":1,"request":"status","id":"a\"b"})").id, R"("a\"b")");
  EXPECT_EQ(refusal(R"({"version":1,"request":"none","id":7})").id, "7");
  const std::string long_text = '"' + std::string(65, 'x') + '"';
  for (const std::string& id :
       {std::string("{}"), std::string("[1]"), std::string("1.5"), long_text}) {
    EXPECT_THAT(complaint(R"("request":"status","id":)" + id), HasSubstr("'id' takes")) << id;
  }
}

TEST(AdminRequestTest, ReadsAnExportAsATextOrAnObject) {
  const auto text =
      order<ExportAddition>(R"("request":"export_add","export":"d=file:/a\\,b,size=1M,sparse")");
  EXPECT_EQ(text.spec.path, "/a,b");
  EXPECT_EQ(text.spec.file_size, 1U << 20U);
  EXPECT_FALSE(text.run_time);
  const auto object = order<ExportAddition>(
      R"("request":"export_add","runtime":true,"export":{"name":"d","type":"file",)"
      R"("path":"/a,b\\c","size":1048576,"sparse":true,"allow":["alice","bob:ro@192.0.2.0/24"]})");
  EXPECT_EQ(object.spec.path, "/a,b\\c");
  EXPECT_EQ(object.spec.file_size, 1U << 20U);
  EXPECT_TRUE(object.spec.sparse);
  EXPECT_EQ(object.spec.rules.clients(), (std::vector<std::string>{"alice", "bob"}));
  EXPECT_TRUE(object.run_time);
  const auto memory = order<ExportAddition>(
      R"("request":"export_add","export":{"name":"m","type":"memory","size":"4M",)"
      R"("chunk":"1M","readonly":true})");
  EXPECT_EQ(memory.spec.size, 4U << 20U);
  EXPECT_EQ(memory.spec.chunk, 1U << 20U);
  EXPECT_TRUE(memory.spec.read_only);
}

TEST(AdminRequestTest, RefusesExportsThatAreNone) {
  const auto why = [](const std::string& value) {
    return complaint(R"("request":"export_add","export":)" + value);
  };
  EXPECT_THAT(complaint(R"("request":"export_add")"), HasSubstr("needs 'export'"));
  EXPECT_THAT(why(R"("d=memory:1")"), HasSubstr("not a multiple of 512"));
  EXPECT_THAT(why(R"("d=file:disk.img")"), HasSubstr("has to be absolute"));
  EXPECT_THAT(why(R"("d=memory:1M,save=x")"), HasSubstr("has to be absolute"));
  EXPECT_THAT(why(R"("d=file:/a\nb")"), HasSubstr("control characters"));
  EXPECT_THAT(why(R"({"name":"d","type":"file","path":"x"})"), HasSubstr("has to be absolute"));
  EXPECT_THAT(why(R"({"name":"d","type":"file"})"), HasSubstr("needs 'path'"));
  EXPECT_THAT(why(R"({"name":"d","type":"tape"})"), HasSubstr("'type' takes"));
  EXPECT_THAT(why(R"({"name":"d=file:/x,a","type":"memory","size":512})"), HasSubstr("not a name"));
  EXPECT_THAT(why(R"({"name":"d","type":"memory","size":-512})"), HasSubstr("'size' takes"));
  EXPECT_THAT(why(R"({"name":"d","type":"memory","size":"1M,readonly"})"), HasSubstr("not a size"));
  EXPECT_THAT(why(R"({"name":"d","type":"memory","size":512,"huges":true})"),
              HasSubstr("an export has no 'huges'"));
  EXPECT_THAT(why(R"({"name":"d","type":"memory","size":512,"allow":"alice"})"),
              HasSubstr("'allow' takes a list"));
  EXPECT_THAT(why(R"({"name":"d","type":"memory","size":512,"shared":1})"),
              HasSubstr("'shared' takes true or false"));
  EXPECT_THAT(why("17"), HasSubstr("an export is a JSON object"));
}

TEST(AdminRequestTest, ReadsRemovals) {
  const auto plain = order<ExportRemoval>(R"("request":"export_remove","name":"disk")");
  EXPECT_EQ(plain.name, "disk");
  EXPECT_FALSE(plain.options.force || plain.options.discard || plain.run_time);
  const auto all = order<ExportRemoval>(
      R"("request":"export_remove","name":"d","force":true,"discard":true,"runtime":true)");
  EXPECT_TRUE(all.options.force && all.options.discard && all.run_time);
  EXPECT_THAT(complaint(R"("request":"export_remove")"), HasSubstr("needs 'name'"));
  EXPECT_THAT(complaint(R"("request":"export_remove","name":"../x")"), HasSubstr("not a name"));
  EXPECT_THAT(complaint(R"("request":"export_remove","name":"x","forse":true)"),
              HasSubstr("has no 'forse'"));
}

TEST(AdminRequestTest, ReadsSizes) {
  const auto size = [](const std::string& value) {
    return order<ExportResizing>(R"("request":"export_resize","name":"d","size":)" + value);
  };
  EXPECT_EQ(size("1024").bytes, 1024U);
  EXPECT_EQ(size("1024").change, Change::to);
  EXPECT_EQ(size(R"("+1G")").bytes, 1U << 30U);
  EXPECT_EQ(size(R"("+1G")").change, Change::by_more);
  EXPECT_EQ(size(R"("-512")").change, Change::by_less);
  EXPECT_FALSE(size("512").may_shrink);
  EXPECT_TRUE(
      order<ExportResizing>(R"("request":"export_resize","name":"d","size":512,"shrink":true)")
          .may_shrink);
  for (const char* value : {"0", "-512", "513", R"("")", R"("+")", R"("--1G")", R"("1X")", "1.5",
                            "18446744073709551615", "99999999999999999999"}) {
    complaint(R"("request":"export_resize","name":"d","size":)" + std::string(value));
  }
}

TEST(AdminRequestTest, ReadsEvictions) {
  EXPECT_EQ(order<SessionEviction>(R"("request":"session_evict","session":7)").session, 7U);
  EXPECT_EQ(
      order<SessionEviction>(R"("request":"session_evict","session":7,"reason":"why")").reason,
      "why");
  EXPECT_THAT(complaint(R"("request":"session_evict","session":4294967296)"),
              HasSubstr("at most 4294967295"));
  EXPECT_THAT(complaint(R"("request":"session_evict","session":-1)"), HasSubstr("takes a number"));
  EXPECT_THAT(complaint(R"("request":"session_evict","session":1,"reason":"a\u001b[2J")"),
              HasSubstr("control characters"));
}

TEST(AdminRequestTest, RefusesWhatIsNoRequest) {
  for (const char* line : {"", "null", "[]", "7", "\"status\"", "{", "{\"a\":1", "\xff\xfe",
                           "{\"version\":1,\"request\":\"\xff\"}"}) {
    EXPECT_THAT(refusal(line).reason, HasSubstr("a JSON object on a line")) << line;
  }
  EXPECT_THAT(refusal("{}").reason, HasSubstr("needs 'version'"));
  EXPECT_THAT(refusal(R"({"version":2,"request":"status"})").reason, HasSubstr("speaks version 1"));
  EXPECT_THAT(refusal(R"({"version":"1","request":"status"})").reason, HasSubstr("takes a number"));
  EXPECT_THAT(complaint(R"("request":"halt")"), HasSubstr("no request 'halt'"));
  EXPECT_THAT(complaint(R"("request":5)"), HasSubstr("'request' takes a text"));
  EXPECT_THAT(complaint(R"("request":"status","name":"x")"), HasSubstr("has no 'name'"));
}

TEST(AdminRequestTest, BearsWhatIsNestedDeeply) {
  const std::string deep = std::string(30'000, '[') + std::string(30'000, ']');
  EXPECT_THAT(refusal(deep).reason, HasSubstr("a JSON object"));
  EXPECT_THAT(complaint(R"("request":"export_add","export":)" + deep), HasSubstr("an export is"));
}

TEST(AdminRequestTest, TellsTheLogWhatIsAskedFor) {
  EXPECT_EQ(read(R"({"version":1,"request":"export_remove","name":"d","discard":true})").text(),
            "export_remove d discard");
  EXPECT_EQ(read(R"({"version":1,"request":"export_resize","name":"d","size":"+512"})").text(),
            "export_resize d +512");
}

}  // namespace
}  // namespace rdmablk::target
