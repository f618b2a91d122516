/**
 * @file rdmablk.h
 * Reads and writes images that an rdmablk target lends, from a program of one's own.
 *
 * A program connects to an image, takes one of its queues for each of its threads, and does I/O on
 * those: one call at a time (rdmablk_pread() and the like, with any memory), or many requests at
 * once (rdmablk_read() and the like, with memory that is registered, so that the RDMA device moves
 * the data itself).
 *
 * Errors. What returns an int or int64_t returns a negative errno value when it fails; then
 * rdmablk_error() has a sentence on it for people. What returns a pointer returns NULL. The library
 * ends no process, throws nothing, changes no signal's disposition, and writes to no descriptor of
 * the program; what it has to say goes to rdmablk_options_set_log(), or nowhere.
 *
 * Threads. Options belong to one thread at a time, and so does each queue, with all calls that name
 * it; any thread may be that. (A call that finds another thread in one with the same queue fails
 * with EINVAL.) Memory and the functions that look at an image may be used by all threads at once.
 * Each image has two threads of the library, on which all signals are blocked: one watches the
 * connection and runs the callbacks, and one sees to queues that are not used for a while.
 *
 * Signals. No call returns early because of one, but for rdmablk_wait().
 *
 * Processes. Once a process has connected, its children call exec(3): after fork(2) alone they can
 * neither use nor close what it has connected, nor connect on their own, as the RDMA libraries keep
 * their devices open. Descriptors are closed by exec(3).
 *
 * Lost connections. The library makes a lost connection again, and does again what was under way:
 * requests take longer, and that is all. rdmablk_options_set_fail_fast_ms(),
 * rdmablk_options_set_give_up_ms() and rdmablk_queue_set_timeout_ms() say how much longer.
 *
 * What is written is on stable storage once a flush that was submitted after its completion has
 * completed, or if RDMABLK_DURABLE was asked for. rdmablk_close() does not flush.
 *
 * See librdmablk(3) for an introduction, rdmablk-uri(7) for how images are named, and
 * rdmablk-example.c for a program.
 */
#ifndef RDMABLK_H
#define RDMABLK_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The version of this header. */
#define RDMABLK_VERSION_MAJOR 0
#define RDMABLK_VERSION_MINOR 1
#define RDMABLK_VERSION_PATCH 0

/** A version as a number that can be compared with others. */
#define RDMABLK_MAKE_VERSION(major, minor, patch) (1000000 * (major) + 1000 * (minor) + (patch))
#define RDMABLK_VERSION_NUMBER \
  RDMABLK_MAKE_VERSION(RDMABLK_VERSION_MAJOR, RDMABLK_VERSION_MINOR, RDMABLK_VERSION_PATCH)

/**
 * The version of the library that the program runs with, as RDMABLK_MAKE_VERSION() has it. Any
 * thread, at any time.
 */
int rdmablk_version(void);

/**
 * Why the last call that failed on this thread has failed: one line, without a full stop. Any
 * thread, at any time.
 * @return never NULL; "" when none has failed. It belongs to the library, and stays until another
 * call fails on this thread. Calls that succeed leave it alone.
 */
const char* rdmablk_error(void);

/* ---------------------------------------------------------------------------------------------- */
/* Options */

/** How to connect. Belongs to one thread at a time. */
struct rdmablk_options;

/** A time that never comes, for those setters that say so. */
#define RDMABLK_NEVER INT64_C(-1)

/** The longest time that options take: a year, in milliseconds. */
#define RDMABLK_MAX_MS (INT64_C(365) * 24 * 60 * 60 * 1000)

/** The most queues of an image, and the deepest queue. */
#define RDMABLK_MAX_QUEUES 256U
#define RDMABLK_MAX_DEPTH 4096U

/** How important a line of the log is. */
enum rdmablk_log_level {
  RDMABLK_LOG_ERROR = 1,   /**< requests fail, for good maybe */
  RDMABLK_LOG_WARNING = 2, /**< requests wait, as when a connection is lost */
  RDMABLK_LOG_INFO = 3,    /**< as when a connection is back, or an image has another size */
  RDMABLK_LOG_DEBUG = 4    /**< for who looks for a fault */
};

/**
 * Takes a line of the log. It is called on the thread that is in rdmablk_connect() or
 * rdmablk_close(), and on the thread that watches the connection; for one image never twice at
 * once. Calls nothing of the library that names the image.
 * @param user what rdmablk_options_set_log() was given.
 * @param level an enum rdmablk_log_level.
 * @param line one line without its end; valid during the call.
 */
typedef void rdmablk_log_function(void* user, int level, const char* line);

/**
 * Is told that an image has another size, or its connection another state; rdmablk_get_size() and
 * rdmablk_get_status() tell which. Called on the thread that watches the connection; it must not
 * wait for a queue's requests, and not close the image. It may be called before rdmablk_connect()
 * has returned.
 * @param user what rdmablk_options_set_on_change() was given.
 */
typedef void rdmablk_change_function(void* user);

/**
 * Makes options: to read and write, one queue 32 deep, no key, no log.
 * @return to be given to rdmablk_options_free(); NULL when there is no memory (ENOMEM).
 */
struct rdmablk_options* rdmablk_options_new(void);

/** Frees options; images that were connected with them stay as they are. NULL is let be. */
void rdmablk_options_free(struct rdmablk_options* options);

/*
 * All setters: @return 0; -EINVAL for a value that is out of range, which changes nothing; -ENOMEM.
 * Texts are copied.
 */

/**
 * The file with this client's key, for a target that asks who is there. It is read by
 * rdmablk_connect(), and again whenever a lost connection is made anew.
 * @param path not empty; NULL (as it is at first): the target must not ask.
 */
int rdmablk_options_set_key_file(struct rdmablk_options* options, const char* path);

/**
 * The client's name; takes a key file.
 * @param name up to 63 letters, digits, '.', '_' and '-', the first a letter or digit; NULL (as it
 * is at first): the one in the key file, or else this host's.
 */
int rdmablk_options_set_client(struct rdmablk_options* options, const char* name);

/**
 * How to connect to the target: one of the options of that which a mount has, too.
 * @param name "cm": the way to connect; "device", "gid_index", "pkey_index", "service_level",
 * "traffic_class", "path_mtu", "ack_timeout", "retries": what the RDMA device is told
 * (rdmablk-fuse(8) explains them all, and says which are for "tcp" alone: rdmablk_connect() refuses
 * these for "rdmacm").
 * @param value as it is written there: of "cm" "rdmacm" (as it is at first) or "tcp", which has the
 * target's port 10813 where a URI names none; of "device" "mlx5_0" or "mlx5_0/1"; of the others a
 * number in decimal.
 */
int rdmablk_options_set_connection(struct rdmablk_options* options, const char* name,
                                   const char* value);

/**
 * One more address of the target, which is used beside the one in the URI: queues are spread over
 * all that work, and what is lost on one goes over another. Each may lead over another RDMA device.
 * @param path HOST[:PORT]; seven more at most.
 */
int rdmablk_options_add_path(struct rdmablk_options* options, const char* path);

/** Whether the image shall only be read; 0 at first. What would change it ends with EROFS. */
int rdmablk_options_set_read_only(struct rdmablk_options* options, int read_only);

/**
 * Whether the right to write the image is taken from a client that holds it; 0 at first. That one
 * can write no more. Without it rdmablk_connect() fails with EBUSY when there is such a client.
 */
int rdmablk_options_set_take_over(struct rdmablk_options* options, int take_over);

/**
 * How many queues the image shall have: one for each thread that uses it at once.
 * @param count 1 (as it is at first) to RDMABLK_MAX_QUEUES. The target may grant fewer: see
 * rdmablk_get_info().
 */
int rdmablk_options_set_queues(struct rdmablk_options* options, unsigned count);

/**
 * How many requests a queue takes at once.
 * @param depth 1 to RDMABLK_MAX_DEPTH; 32 at first. The target may grant fewer.
 */
int rdmablk_options_set_depth(struct rdmablk_options* options, unsigned depth);

/**
 * How long each step of rdmablk_connect() may take, of which there are a few.
 * @param milliseconds 1 to RDMABLK_MAX_MS; 5000 at first.
 */
int rdmablk_options_set_connect_timeout_ms(struct rdmablk_options* options, int64_t milliseconds);

/**
 * The longest pause between two attempts to make a lost connection again.
 * @param milliseconds 1 to RDMABLK_MAX_MS; 2000 at first.
 */
int rdmablk_options_set_reconnect_delay_ms(struct rdmablk_options* options, int64_t milliseconds);

/**
 * How long after the loss of a connection requests begin to fail with EIO, while it is still tried
 * to make it again.
 * @param milliseconds 0 to RDMABLK_MAX_MS, or RDMABLK_NEVER (as it is at first): they wait.
 */
int rdmablk_options_set_fail_fast_ms(struct rdmablk_options* options, int64_t milliseconds);

/**
 * How long after the loss of a connection there are no more attempts to make it again: requests
 * fail with EIO from then on, for good.
 * @param milliseconds 0 to RDMABLK_MAX_MS, or RDMABLK_NEVER; 600000 at first.
 */
int rdmablk_options_set_give_up_ms(struct rdmablk_options* options, int64_t milliseconds);

/**
 * Where the log goes.
 * @param log NULL (as it is at first): nowhere. @param user passed on to it.
 * @param level the least important lines that are wanted: an enum rdmablk_log_level.
 */
int rdmablk_options_set_log(struct rdmablk_options* options, rdmablk_log_function* log, void* user,
                            int level);

/**
 * Who is told of changes of the size and of the connection's state.
 * @param on_change NULL (as it is at first): nobody. @param user passed on to it.
 */
int rdmablk_options_set_on_change(struct rdmablk_options* options,
                                  rdmablk_change_function* on_change, void* user);

/* ---------------------------------------------------------------------------------------------- */
/* Images */

/** A connected image, with its queues and its memory. */
struct rdmablk_image;

/** A way to an image for one thread at a time. Belongs to the image. */
struct rdmablk_queue;

/** Memory that the image's device may reach. */
struct rdmablk_memory;

/**
 * Connects to an image. Waits until it can be used, or that has failed.
 * @param uri "rdmablk://HOST[:PORT]/EXPORT"; see rdmablk-uri(7).
 * @param options NULL: as rdmablk_options_new() makes them. They may be changed and freed
 * afterwards.
 * @param image set to the image, which is to be given to rdmablk_close(); to NULL on failure.
 * @return 0, or
 *   -EINVAL        the URI or an option makes no sense
 *   -ENODEV        this host has no RDMA device
 *   -EHOSTUNREACH  the host is not known, no RDMA device leads there, or nothing on the way there
 *                  answers
 *   -ECONNREFUSED  nothing listens there
 *   -ETIMEDOUT     there is no answer
 *   -EACCES        the key file cannot be used; or the target asks for a key, does not know this
 *                  one, or cannot prove that it has it, too
 *   -ENOENT        the target has no such image that this client may see
 *   -EROFS         the target does not let this client write it
 *   -EBUSY         another client holds the right to write it
 *   -EUSERS        the target, or this client, has as many connections as it may
 *   -EPROTONOSUPPORT  the target speaks another version of the protocol
 *   -ENOMEM        memory is lacking, or may not be locked: see RLIMIT_MEMLOCK in getrlimit(2)
 *   -EIO           anything else
 *   or what the system says of a descriptor or of the device.
 */
int rdmablk_connect(const char* uri, const struct rdmablk_options* options,
                    struct rdmablk_image** image);

/**
 * Ends the connection, and frees all that belongs to the image: queues, requests that are under
 * way, and memory. When it returns, nothing touches the program's memory any more. What requests
 * under way were to write may be written, or not. Takes up to two seconds when the target does not
 * answer.
 * @param image that no other call is using; not from a callback. NULL is let be.
 */
void rdmablk_close(struct rdmablk_image* image);

/**
 * What an image is like. Grows at its end in later versions.
 */
struct rdmablk_info {
  const char* uri;        /**< with the port; belongs to the image */
  const char* name;       /**< of the export; belongs to the image */
  const char* device;     /**< the RDMA device that leads there: "mlx5_0"; belongs to the image */
  uint64_t size;          /**< in bytes, when it was connected; see rdmablk_get_size() */
  uint32_t block_size;    /**< in bytes: offsets and lengths that are multiples are served best; any
                               are served */
  uint32_t queues;        /**< that there are */
  uint32_t depth;         /**< requests that each takes at once */
  uint32_t read_only;     /**< 1: what would change it ends with EROFS */
  uint32_t flush_is_free; /**< 1: there is nothing to flush, as for an image in memory */
  uint32_t can_discard;   /**< 1: discarding may give space back; else it writes zeroes */
  uint8_t uuid[16];       /**< of the export, which keeps it for life */
};

/**
 * Tells what an image is like.
 * @param size sizeof(struct rdmablk_info) as the program was compiled with: so much of `info` is
 * written, and what this library does not know becomes zero.
 * @return 0; -EINVAL when an argument is NULL or the size zero.
 */
int rdmablk_get_info(const struct rdmablk_image* image, struct rdmablk_info* info, size_t size);

/**
 * The size of an image now, in bytes: that changes when the target is told to resize it. When it
 * shrinks, requests behind the new end fail with ENOSPC or EIO.
 * @return the size; 0 when `image` is NULL.
 */
uint64_t rdmablk_get_size(const struct rdmablk_image* image);

/** How a connection is doing. */
enum rdmablk_state {
  RDMABLK_CONNECTED = 1,
  RDMABLK_RECONNECTING = 2, /**< it was lost and is being made again; requests wait */
  RDMABLK_FAILING = 3,      /**< the same, and requests fail: rdmablk_options_set_fail_fast_ms() */
  RDMABLK_LOST = 4          /**< for good; requests fail */
};

/** How a connection is doing, with its story. Grows at its end in later versions. */
struct rdmablk_status {
  int32_t state;       /**< an enum rdmablk_state */
  uint32_t reserved;   /**< 0 */
  uint64_t reconnects; /**< times that a lost connection came back */
  int64_t since_ms;    /**< for how long it is in this state, in milliseconds */
  char reason[512];    /**< why it is away, or was the last time, for people; "": it never was */
};

/**
 * Tells how an image's connection is doing.
 * @param size sizeof(struct rdmablk_status), as for rdmablk_get_info().
 * @return 0; -EINVAL when an argument is NULL or the size zero; -ENOMEM.
 */
int rdmablk_get_status(const struct rdmablk_image* image, struct rdmablk_status* status,
                       size_t size);

/**
 * One of an image's queues. The same one each time; who asks first has no more right to it.
 * @param index from 0 to rdmablk_info.queues - 1.
 * @return NULL when there is none of that number (EINVAL). It stays until rdmablk_close().
 */
struct rdmablk_queue* rdmablk_get_queue(struct rdmablk_image* image, unsigned index);

/* ---------------------------------------------------------------------------------------------- */
/* One call at a time */

/*
 * These wait until what they do is done. They take any memory, and copy; long ranges go in pieces.
 * They may be mixed with requests on the same queue, whose completions wait for rdmablk_reap().
 *
 * All: @param length in bytes; with 0 there is nothing to do. @param offset in bytes from the start
 * of the image. @param flags 0, or RDMABLK_DURABLE where there are some.
 * @return 0 when all was done, or
 *   -EINVAL     an argument makes no sense, or what is to be read ends behind the image's end
 *   -ENOSPC     what is to be changed ends behind the image's end, or the target has no space left
 *   -EROFS      the image is read-only
 *   -ETIMEDOUT  rdmablk_queue_set_timeout_ms(): part of it may have been done, or be done later
 *   -ENOMEM     memory to copy by is lacking, or may not be locked; of the first call on a queue
 *   -EIO        the target's storage fails, or the connection is lost
 * With an error from the target's side, part of it may have been done.
 */

/** Reads. */
int rdmablk_pread(struct rdmablk_queue* queue, void* data, size_t length, uint64_t offset);

/** Writes. */
int rdmablk_pwrite(struct rdmablk_queue* queue, const void* data, size_t length, uint64_t offset,
                   unsigned flags);

/** Makes a range read as zeroes. */
int rdmablk_pzero(struct rdmablk_queue* queue, uint64_t length, uint64_t offset, unsigned flags);

/** The same, and the space that it takes may be given back; see rdmablk_info.can_discard. */
int rdmablk_pdiscard(struct rdmablk_queue* queue, uint64_t length, uint64_t offset, unsigned flags);

/** Puts all that has completed before, on any queue, on stable storage. */
int rdmablk_sync(struct rdmablk_queue* queue);

/* ---------------------------------------------------------------------------------------------- */
/* Memory for requests */

/*
 * Memory is for the requests of one image, on all of its queues. It may be made and freed on any
 * thread, at any time. It counts against RLIMIT_MEMLOCK.
 *
 * @param memory set to it, which is to be given to rdmablk_memory_free() or goes with the image; to
 * NULL on failure.
 * @return 0; -EINVAL when an argument is NULL or the size zero; -ENOMEM when there is not so much,
 * or it may not be locked; or what the device says.
 */

/** Makes memory, zeroed, on pages of its own: `bytes` are rounded up to whole ones. */
int rdmablk_memory_alloc(struct rdmablk_image* image, size_t bytes, struct rdmablk_memory** memory);

/**
 * Registers memory of the program's.
 * @param address, bytes stay mapped, and are not unmapped or moved, until rdmablk_memory_free() or
 * rdmablk_close() has returned. Parts of it may be registered more than once.
 */
int rdmablk_memory_register(struct rdmablk_image* image, void* address, size_t bytes,
                            struct rdmablk_memory** memory);

/**
 * Frees memory, or lets go of the program's.
 * @return 0; -EBUSY when there are requests with it whose completion was not reaped: it stays then.
 * NULL is let be.
 */
int rdmablk_memory_free(struct rdmablk_memory* memory);

/** Where it begins; NULL for NULL. */
void* rdmablk_memory_data(const struct rdmablk_memory* memory);

/** How long it is, in bytes; 0 for NULL. */
size_t rdmablk_memory_size(const struct rdmablk_memory* memory);

/* ---------------------------------------------------------------------------------------------- */
/* Many requests at once */

/** It shall be on stable storage once it has completed. For writing, zeroing and discarding. */
#define RDMABLK_DURABLE 0x1U

/**
 * Another request follows at once: this one may wait for it, so that the device is told of both in
 * one go. It is told of all at the next request without this flag, by rdmablk_kick(),
 * rdmablk_reap() or rdmablk_wait(), and not otherwise.
 */
#define RDMABLK_MORE 0x2U

/*
 * These submit a request and return. They neither wait nor allocate nor lock. Requests that are
 * under way at once have no order among each other.
 *
 * From the call on until its completion was reaped, the data belongs to the request: it is not to
 * be changed, nor looked at while it is being read into.
 *
 * All: @param data where the bytes lie, all of them within `memory`, at any alignment.
 * @param length in bytes, more than 0. @param offset in bytes from the start of the image.
 * @param flags 0, or RDMABLK_... @param user comes back with the completion.
 * @return the request's number, more than 0, for rdmablk_cancel(); or, when nothing was submitted:
 *   -EAGAIN  as many requests as the queue takes have not been reaped: reap some first
 *   -EINVAL  an argument makes no sense, `data` reaches past the memory, the memory is another
 *            image's, or what is to be read ends behind the image's end
 *   -ENOSPC  what is to be changed ends behind the image's end
 *   -EROFS   the image is read-only
 */

/** Reads from the image into `data`. */
int64_t rdmablk_read(struct rdmablk_queue* queue, struct rdmablk_memory* memory, void* data,
                     size_t length, uint64_t offset, unsigned flags, void* user);

/** Writes `data` to the image. */
int64_t rdmablk_write(struct rdmablk_queue* queue, struct rdmablk_memory* memory, const void* data,
                      size_t length, uint64_t offset, unsigned flags, void* user);

/** Makes a range read as zeroes. */
int64_t rdmablk_zero(struct rdmablk_queue* queue, uint64_t length, uint64_t offset, unsigned flags,
                     void* user);

/** The same, and the space that it takes may be given back; see rdmablk_info.can_discard. */
int64_t rdmablk_discard(struct rdmablk_queue* queue, uint64_t length, uint64_t offset,
                        unsigned flags, void* user);

/** Puts on stable storage what has completed, on any queue, before this was called. */
int64_t rdmablk_flush(struct rdmablk_queue* queue, unsigned flags, void* user);

/** Tells the device of what was submitted with RDMABLK_MORE. */
void rdmablk_kick(struct rdmablk_queue* queue);

/**
 * For how long the requests that are submitted from now on, and the calls that wait, may take.
 *
 * A request whose time is up ends with ETIMEDOUT if it waits for a lost connection. If the device
 * works on it, it cannot be taken back, as its memory may still be read and written: it stays under
 * way until it ends as any other, or its connection is lost, and ends with ETIMEDOUT then. A write
 * that ended so may have been done.
 *
 * The calls that wait return at once when their time is up, as they copy.
 * @param milliseconds 1 to RDMABLK_MAX_MS, or RDMABLK_NEVER (as it is at first).
 * @return 0, or -EINVAL.
 */
int rdmablk_queue_set_timeout_ms(struct rdmablk_queue* queue, int64_t milliseconds);

/**
 * Takes a request back.
 * @param request what its submission returned.
 * @return 0: it waited for a lost connection; it will not be done, and its completion says
 * ECANCELED. -EBUSY: the device works on it, and may read and write its memory: it will end as any
 * other, or with ECANCELED should its connection be lost. -ENOENT: it has ended already, or there
 * is none of that number on this queue. Whatever it returns, the completion is to be reaped.
 */
int rdmablk_cancel(struct rdmablk_queue* queue, int64_t request);

/** How a request has ended. */
struct rdmablk_completion {
  void* user;        /**< as it was given when the request was submitted */
  int64_t request;   /**< what its submission returned */
  int32_t error;     /**< 0: it was done; else a negative errno value: -EIO, -ENOSPC, -EROFS,
                          -ECANCELED, -ETIMEDOUT, or another one of the target's storage */
  uint32_t reserved; /**< 0 */
};

/**
 * Takes the completions that there are, without waiting; they come in any order.
 * @param completions room for `count`, which is not 0.
 * @return how many were written; 0 when there are none now; -EINVAL.
 */
int rdmablk_reap(struct rdmablk_queue* queue, struct rdmablk_completion* completions,
                 unsigned count);

/**
 * The same, but waits until there is one at least.
 * @param timeout_ms 0 to RDMABLK_MAX_MS, or RDMABLK_NEVER.
 * @return how many were written; 0 when the time was up first; -ENOENT when no request is under
 * way; -EINTR when a signal was handled meanwhile; -EINVAL.
 */
int rdmablk_wait(struct rdmablk_queue* queue, struct rdmablk_completion* completions,
                 unsigned count, int64_t timeout_ms);

/** How many requests have been submitted whose completions were not reaped; 0 for NULL. */
unsigned rdmablk_pending(const struct rdmablk_queue* queue);

/**
 * A descriptor to poll(2), or to add to an epoll(7) set: it is readable, and stays so, when
 * rdmablk_reap() may have something to do. So a loop that polls, reaps and polls again misses
 * nothing, however many completions it takes at a time; now and then it will find none. Nothing
 * else is to be done with the descriptor. It can be in an epoll set, and that set in one more.
 *
 * From the first call on the device is asked to announce completions, which costs some time: who
 * calls rdmablk_reap() all the time, or rdmablk_wait(), does without.
 * @return it belongs to the queue, and is not to be closed; -EINVAL when `queue` is NULL.
 */
int rdmablk_queue_fd(struct rdmablk_queue* queue);

#ifdef __cplusplus
}
#endif

#endif
