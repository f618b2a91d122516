#include "common/softverbs/cm/id.h"

#include <cerrno>
#include <random>

namespace softverbs::cm {
namespace {

constexpr uint16_t kDefaultPkey = 0xffff;
constexpr uint32_t kPsnMask = 0xffffff;
constexpr uint8_t kExactly = 2;  // selector of a path record (InfiniBand volume 1, 15.2.5.16)

}  // namespace

Id::Id(EventChannel& event_channel, void* user_context, rdma_port_space port_space)
    : rdma_cm_id{}, home(&event_channel) {
  channel = &event_channel;
  context = user_context;
  ps = port_space;
  qp_type = IBV_QPT_RC;
  claim.port_space = port_space;
  attributes.local_psn = std::random_device{}() & kPsnMask;
  Process& process = Process::get();
  serial = process.next_serial++;
  process.ids.emplace(serial, this);
}

Id::~Id() {
  shut_down();
  Process::get().ids.erase(serial);
}

void Id::post(std::unique_ptr<Event> posted) {
  if (!reported) {
    held.push_back(std::move(posted));
  } else if (home != nullptr) {
    home->push(std::move(posted));
  }
}

void Id::post(rdma_cm_event_type type, int event_status) {
  post(std::make_unique<Event>(type, *this, *this, event_status));
}

void Id::report(EventChannel& event_channel) {
  home = &event_channel;
  channel = &event_channel;
  reported = true;
  for (auto& waiting : held) home->push(std::move(waiting));
  held.clear();
}

void Id::later(std::function<void(Id&)> action) {
  Process::get().progress.defer([number = serial, action = std::move(action)] {
    auto& ids = Process::get().ids;
    if (const auto found = ids.find(number); found != ids.end()) action(*found->second);
  });
}

void Id::start_timer(ProgressThread::Clock::duration delay, std::function<void(Id&)> action) {
  stop_timer();
  timer_ = Process::get().progress.arm(delay, [this, action = std::move(action)] {
    timer_ = 0;
    action(*this);
  });
}

void Id::stop_timer() {
  Process::get().progress.disarm(timer_);
}

void Id::watch_socket(std::function<void(Id&)> readable) {
  unwatch_socket();
  watch_ = Process::get().progress.watch(
      socket.get(), [this, readable = std::move(readable)] { readable(*this); });
}

void Id::unwatch_socket() {
  Process::get().progress.unwatch(watch_, socket.get());
}

void Id::shut_down() {
  ProgressThread& progress = Process::get().progress;
  stop_timer();
  unwatch_socket();
  socket.reset();
  port_mark.clear();
  for (auto& [fd, caller] : callers) progress.unwatch(caller.watch, fd);
  callers.clear();
  held.clear();
  if (home != nullptr && reported) home->take(*this);
  link = LinkState::kNone;
}

int Id::set_source(const SocketAddress& address) {
  if (!address.is_wildcard()) {
    auto found = Process::get().devices.for_address(address);
    if (found == nullptr) return -ENODEV;
    device = std::move(found);
  }
  source = address;
  return 0;
}

void Id::on_device_removal() {
  stop_timer();
  unwatch_socket();
  link = LinkState::kNone;
  state = IdState::kDeviceRemoved;
  post(RDMA_CM_EVENT_DEVICE_REMOVAL);
}

void Id::publish_addresses() {
  source.copy_to(route.addr.src_storage);
  if (destination) destination->copy_to(route.addr.dst_storage);
  if (device == nullptr) return;
  verbs = device->context;
  port_num = kPort;
  route.addr.addr.ibaddr.sgid = device->gids[device->gid_index(source)];
  route.addr.addr.ibaddr.pkey = htons(kDefaultPkey);
}

void Id::publish_route() {
  const auto peer = Process::get().devices.for_address(*destination);
  route.addr.addr.ibaddr.dgid =
      peer != nullptr ? peer->gids[peer->gid_index(*destination)] : destination->gid();
  path_ = std::make_unique<ibv_sa_path_rec>();
  path_->sgid = route.addr.addr.ibaddr.sgid;
  path_->dgid = route.addr.addr.ibaddr.dgid;
  path_->pkey = route.addr.addr.ibaddr.pkey;
  path_->reversible = 1;
  path_->numb_path = 1;
  path_->hop_limit = 64;
  path_->traffic_class = type_of_service;
  path_->mtu_selector = kExactly;
  path_->mtu = static_cast<uint8_t>(device->mtu);
  path_->rate_selector = kExactly;
  path_->rate = IBV_RATE_10_GBPS;
  path_->packet_life_time_selector = kExactly;
  route.path_rec = path_.get();
  route.num_paths = 1;
}

}  // namespace softverbs::cm
