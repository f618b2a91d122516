// What every fuzzer begins with: what inputs have the code say goes nowhere.
#include <spdlog/spdlog.h>

#include <iostream>

extern "C" int LLVMFuzzerInitialize(int* /*argc*/, char*** /*argv*/) {
  spdlog::set_level(spdlog::level::off);
  std::cout.setstate(std::ios_base::failbit);  // --help
  return 0;
}
