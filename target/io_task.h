#pragma once

#include <boost/intrusive/slist.hpp>

namespace rdmablk::target {

/// Something to be done on an I/O thread; made and owned by who posts it, and left alone until it
/// runs. It may be posted again from run().
class IoTask : public boost::intrusive::slist_base_hook<> {
 public:
  virtual void run() noexcept = 0;

 protected:
  ~IoTask() = default;
};

}  // namespace rdmablk::target
