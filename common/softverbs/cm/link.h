#pragma once

#include <optional>
#include <span>

#include "common/softverbs/cm/id.h"
#include "common/softverbs/faults/fault.h"

namespace softverbs::cm {

/// The connection of two ids once a socket joins them: each function sends one message of the
/// handshake and moves the link's state; messages and the end of the socket are turned into events.
/// All need the process's lock. Results are 0 or a negative errno value.

/// How long an unanswered request, reply or disconnect is waited for. The kernel's connection
/// manager gives up after about a minute.
constexpr std::chrono::seconds kAnswerTimeout{60};
/// Time between the end of a connection and TIMEWAIT_EXIT. The kernel waits seconds, for packets
/// that are still on their way; here none are, the delay only keeps the event asynchronous.
constexpr std::chrono::milliseconds kTimewait{50};

/// How long it is here: kAnswerTimeout, or what SOFTVERBS_FAULTS says.
ProgressThread::Clock::duration answer_timeout();

/// Whether the fault cm-lost strikes a message that causes this event: then it never came.
bool is_lost(std::optional<CmEvent> event);

/// Connects to whoever listens and sends REQ, in the background thread; the outcome is an event.
/// @pre id.link is kRequestSent
void send_request(Id& id, const Message& request);

/// Takes over what the peer said of its queue pair in REQ or REP.
void learn_peer(Id& id, const Message& message);

/// Starts to listen to the peer. @throws std::system_error
void watch_link(Id& id);

/// REP: accepts. -EINVAL when no request is waiting for it.
int send_reply(Id& id, const Message& reply);

/// RTU: the queue pair is connected. -EINVAL when no reply has come.
int send_ready_to_use(Id& id);

/// REJ. -EINVAL when the handshake is over or was never begun.
int send_reject(Id& id, int reason, std::span<const uint8_t> private_data);

/// DREQ, or DREP when the peer's DREQ is waiting; nothing in other states, as the kernel.
void disconnect(Id& id);

/// The queue pair has received something, so the peer is connected even without RTU.
/// -EISCONN when that is known.
int note_established(Id& id);

/// The reason that stands for "its user said no" on this kind of device.
int consumer_reject(const Id& id);

}  // namespace softverbs::cm
