#include "target/resident_store.h"

namespace rdmablk::target {

ResidentStore::ResidentStore(std::string name, FileStore& store, std::span<std::byte> memory)
    : name_(std::move(name)), store_(store), memory_(memory) {}
ResidentStore::~ResidentStore() = default;
void ResidentStore::reconcile() noexcept {}
bool ResidentStore::settle() noexcept {
  return true;
}

}  // namespace rdmablk::target
