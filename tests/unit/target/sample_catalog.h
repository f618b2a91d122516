#pragma once

#include <string>

#include "target/catalog.h"
#include "target/volatile_identity.h"

namespace rdmablk::target {

/// An offer without any memory behind it.
inline Offer sample_offer(const std::string& name, bool read_only = false) {
  Offer offer;
  offer.info.name = name;
  offer.info.read_only = read_only;
  offer.info.block_size = 512;
  offer.info.size = 1 << 20;
  static VolatileIdentity identity;
  offer.identity = &identity;
  offer.read_only.table = {0x1000, 11, 1, 1 << 20, 1};
  if (!read_only) offer.read_write = Grant{{0x2000, 22, 1, 1 << 20, 1}, nullptr};
  return offer;
}

/// The exports "disk", and "rom", which is read-only.
inline Catalog sample_catalog() {
  Catalog catalog;
  catalog.add(sample_offer("rom", true));
  catalog.add(sample_offer("disk"));
  return catalog;
}

}  // namespace rdmablk::target
