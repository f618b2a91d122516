// Writes the inputs that the fuzzers begin with: real messages and texts. For corpora that are made
// anew, when a format has changed.
//
// Usage: make_seeds DIRECTORY
#include <cstdio>
#include <exception>

#include "tests/fuzz/seeds.h"

namespace rdmablk::fuzz {
namespace {

void add_all(const std::filesystem::path& directory) {
  Seeds seeds(directory);
  add_admin_messages(seeds);
  add_admin_requests(seeds);
  add_io_messages(seeds);
  add_connection_data(seeds);
  add_tcp_exchange(seeds);
  add_texts(seeds);
  add_command_lines(seeds);
  add_earlier_process(seeds);
  add_target_session(seeds);
  add_target_queue(seeds);
  add_initiator_queue(seeds);
  add_initiator_session(seeds);
}

}  // namespace
}  // namespace rdmablk::fuzz

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s DIRECTORY\n", argv[0]);
    return 2;
  }
  try {
    rdmablk::fuzz::add_all(argv[1]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", argv[0], error.what());
    return 1;
  }
  return 0;
}
