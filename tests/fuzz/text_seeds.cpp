// What people write, and what is kept as text.
#include <string_view>

#include "tests/fuzz/seeds.h"

namespace rdmablk::fuzz {
namespace {

constexpr std::string_view kKeys =
    "# who may\n"
    "alice rdmablk-key-1:000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f\n"
    "rdmablk-key-1:ff0102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f\n";

}  // namespace

void add_texts(Seeds& seeds) {
  seeds.target("texts");
  int number = 0;
  const auto add = [&](unsigned kind, std::string_view text) {
    seeds.add("text_" + std::to_string(number++), Output().pick(kind).text(text));
  };
  add(0, "1536M");
  add(0, "18446744073709551615");
  add(1, "rdmablk://server.example:10812/disk");
  add(1, "rdmablk://[2001:db8::1]/disk");
  add(2, "192.0.2.1:4000");
  add(3, "[::]:0");
  add(4, "disk=memory:64G,huge=2M,chunk=1G,readonly");
  add(4, "d=memory:1G,save=/srv/d,allow=alice,allow=bob:ro@192.0.2.0/24,allow=*:rw@2001:db8::/32");
  add(4, "d=file:/srv/a\\,b.img,size=10G,sparse,direct=auto,resident");
  add(5, "ro,allow_other,uid=1000,gid=100,mode=0640,fsname=a\\,b,workers=4,queue_depth=32,spin=10");
  add(5, "keyfile=/k,client=alice,reconnect_delay=0.5,fail_fast=never,give_up=10,take_over");
  add(5, "_netdev,noauto,x-systemd.automount,noatime");
  add(7, kKeys);
  add(8, "error:rate=1/500:status=rem-access,delay:us=300:after=5,cm-timeout=500\n# none\nlog=/f");
  add(8, "cm-lost:event=rejected:max=2, stall:ms=20");
  add(9, "18446744073709551615");
  seeds.add("bracket_within_host", Output().pick(2).text("a:]:"));
  add(6,
      "36 35 98:0 / /mnt/a\\040b rw,noatime master:1 - ext3 /dev/root rw\n"
      "37 35 0:50 / /x rw - fuse.rdmablk rdmablk://h/disk rw\n");
}

void add_admin_requests(Seeds& seeds) {
  seeds.target("admin_requests");
  int number = 0;
  const auto add = [&](std::string_view members) {
    seeds.add("request_" + std::to_string(number++),
              Output().text("{\"version\":1," + std::string(members) + "}"));
  };
  add(R"("request":"status","id":7)");
  add(R"("request":"exports","id":"a")");
  add(R"("request":"sessions")");
  add(R"("request":"reload")");
  add(R"("request":"export_add","export":"d=file:/srv/a\\,b,size=10G,sparse,allow=alice:ro")");
  add(R"("request":"export_add","export":{"name":"d","type":"file","path":"/d","size":1048576,)"
      R"("sparse":true,"resident":true,"huge":"2M","direct":"on","allow":["*"]},"runtime":true)");
  add(R"("request":"export_add","export":{"name":"m","type":"memory","size":"4G","chunk":"1M",)"
      R"("save":"/srv/m","shared":true,"readonly":false})");
  add(R"("request":"export_remove","name":"d","force":true,"discard":true,"runtime":true)");
  add(R"("request":"export_resize","name":"d","size":"-1G","shrink":true)");
  add(R"("request":"session_evict","session":4294967295,"reason":"maintenance")");
}

void add_command_lines(Seeds& seeds) {
  seeds.target("command_lines");
  const auto add = [&](const std::string& name, unsigned program, std::string_view words) {
    seeds.add(name, Output().pick(program).text(words));
  };
  add("target", 0, "--export\ndisk=memory:4G,allow=alice,allow=bob:ro@192.0.2.0/24\n--auth\n/keys");
  add("target_insecure", 0,
      "--export\nd=file:/srv/d,size=1T,sparse\n--export\ne=memory:1M,save=/e\n--insecure\n"
      "--listen\n192.0.2.1:0\n--state-dir\n/s\n--show-paths\n--io-threads\n2");
  add("target_limits", 0,
      "--export\nd=memory:1M\n--insecure\n--handshake-timeout\n0.5\n--keepalive\n0\n"
      "--max-sessions\n9\n--max-client-sessions\n8\n--max-session-queues\n7\n--admin-rate\n0\n"
      "--slots\n4\n--slot-size\n64K\n--slot-memory\n1M\n--client-slot-memory\n512K");
  add("target_succeeds", 0,
      "--export=d=memory:1M\n--insecure\n--succeed\n123\n--discard\nd\n--device\nrxe0");
  add("handshake_not_a_number", 0, "--export\nd=memory:1M\n--insecure\n--handshake-timeout\nnan");
  add("fuse", 1, "rdmablk://h/disk\n/mnt\n-o\nro,allow_other\n--fail-fast\n0.5\n-f");
  add("fuse_null", 1, "--null\n1G\n/mnt\n--workers\n2\n--queue-depth\n8\n--spin\n5\n-q");
  add("fuse_key", 1,
      "rdmablk://h:1/d\n/mnt\n-okeyfile=/k,client=alice,uid=1\n--take-over\n--give-up\nnever");
  add("list", 2, "list\n192.0.2.1\n--keyfile\n/k\n--client\nalice\n--json\n--timeout\n2");
  add("info", 2, "info\nrdmablk://h/d\n--can\ndiscard");
  add("bench", 2, "bench\nrdmablk://h/d\n--rw\nrandrw\n--bs\n4k\n--depth\n32\n--take-over");
  add("mount", 2, "mount\nrdmablk://h/d\n/mnt\n-o\nro");
  add("timeouts", 2, "timeouts\n/mnt\n--fail-fast\n0\n--give-up\nnever");
  add("keygen", 2, "keygen\nalice\n--output\n/k");
  add("bench_options", 3, "rdmablk://h/d\nrandrw\n4k\n8\n2\n1.5\n70\n0\n1M\n0.5\nnever\n5");
}

void add_earlier_process(Seeds& seeds) {
  seeds.target("earlier_process");
  const auto add = [&](const std::string& name, unsigned kind, std::string_view text) {
    seeds.add(name, Output().pick(kind).text(text));
  };
  add("state", 0,
      R"({"version":1,"path":"/d","file":"inode 7","size_bytes":512,"lease":9,"boot_id":"b",)"
      R"("uuid":"00112233-4455-6677-8899-aabbccddeeff","clean":true,)"
      R"("generation":"00112233-4455-6677-8899-aabbccddeeff",)"
      R"("memory":"00112233-4455-6677-8899-aabbccddeeff"})");
  add("request", 1,
      R"({"version":1,"discards":["a"],"exports":[{"name":"disk","kind":1,"size_bytes":65536,)"
      R"("huge_bytes":0,"path":"","read_only":false}]})");
  add("refused", 2, R"({"refused":"because"})");
  add("accepted", 2, R"({"accepted":true})");
  add("memory_line", 2, R"({"memory":"disk"})");
  add("complete", 2, R"({"complete":true})");
  add("line_of_another_type", 2, R"({"refused":1})");
  const auto record = [](unsigned name) {  // one, right
    return Output().pick(3).pick(0).pick(name);
  };
  for (unsigned name = 0; name < 2; ++name) {
    seeds.add("memory_" + std::to_string(name),
              record(name).pick(0).pick(1).pick(0).pick(0).pick(0).pick(0).pick(0).pick(0));
  }
  seeds.add("damaged", record(0).pick(0).pick(0).pick(1).number(std::uint16_t{4196}).pick(7));
  seeds.add(
      "neither_true_nor_false",
      record(1).pick(0).pick(0).pick(1).number(std::uint16_t{4096 + 16 + 193}).pick(7).pick(1));
  seeds.add("huge", record(1)
                        .pick(1)
                        .number(UINT64_MAX - 511)
                        .pick(0)
                        .pick(0)
                        .pick(0)
                        .pick(0)
                        .pick(4)
                        .number(std::uint32_t{0}));
  seeds.add("lines", Output()
                         .pick(4)
                         .pick(3)
                         .pick(2)
                         .pick(5)
                         .text("a{}\nb")
                         .pick(1)
                         .pick(3)
                         .text("c\n\n")
                         .pick(7)
                         .pick(2)
                         .text("d\n"));
}

}  // namespace rdmablk::fuzz
