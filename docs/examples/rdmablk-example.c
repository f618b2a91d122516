/*
 * Writes a pattern over an image with many requests at once, flushes, reads it back and compares.
 *
 *   cc -o rdmablk-example rdmablk-example.c $(pkg-config --cflags --libs rdmablk)
 *   ./rdmablk-example rdmablk://HOST/EXPORT [KEY-FILE]
 *
 * What the image held is overwritten. The exit status is 0 when all was read as it was written.
 */
#include <poll.h>
#include <rdmablk.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK 65536U
#define BLOCKS_AT_ONCE 16U

/* What one request works on: its part of the memory, and a block of the image. */
struct job {
  unsigned char *data;
  uint64_t offset;
  size_t length;
};

/* What goes over all blocks in turn. */
struct pass {
  struct rdmablk_queue *queue;
  struct rdmablk_memory *memory;
  unsigned at_once; /* jobs */
  uint64_t size;    /* of the image */
  uint64_t next;    /* the offset of the next block */
  int writes;       /* or else it reads and compares */
  unsigned wrong;   /* blocks that failed, or were read as something else */
};

static int failed(const char *doing) {
  fprintf(stderr, "cannot %s: %s\n", doing, rdmablk_error());
  return 1;
}

static void print_log(void *user, int level, const char *line) {
  (void)user;
  (void)level;
  fprintf(stderr, "%s\n", line);
}

static unsigned char pattern_at(uint64_t offset) {
  return (unsigned char)(offset * 31 + (offset >> 16));
}

/* Begins with the next block. RDMABLK_MORE: main() tells the device of all that there are. */
static int start(struct pass *pass, struct job *job) {
  int64_t request;
  size_t i;

  job->offset = pass->next;
  job->length = pass->size - pass->next < BLOCK ? (size_t)(pass->size - pass->next) : BLOCK;
  pass->next += job->length;
  if (pass->writes) {
    for (i = 0; i < job->length; ++i) job->data[i] = pattern_at(job->offset + i);
    request = rdmablk_write(pass->queue, pass->memory, job->data, job->length, job->offset,
                            RDMABLK_MORE, job);
  } else {
    memset(job->data, 0, job->length);
    request = rdmablk_read(pass->queue, pass->memory, job->data, job->length, job->offset,
                           RDMABLK_MORE, job);
  }
  return request < 0 ? -1 : 0;
}

/* Looks at a block that is through. */
static void finish(struct pass *pass, const struct rdmablk_completion *completion) {
  const struct job *job = completion->user;
  size_t i;

  if (completion->error != 0) {
    fprintf(stderr, "the block at %llu: %s\n", (unsigned long long)job->offset,
            strerror(-completion->error));
    ++pass->wrong;
    return;
  }
  if (pass->writes) return;
  for (i = 0; i < job->length; ++i) {
    if (job->data[i] != pattern_at(job->offset + i)) {
      fprintf(stderr, "the byte at %llu is wrong\n", (unsigned long long)(job->offset + i));
      ++pass->wrong;
      return;
    }
  }
}

/* Goes over the image. In a program that waits for other things, too, their descriptors would be
 * polled beside the queue's. */
static int run(struct pass *pass, struct job *jobs) {
  struct rdmablk_completion completions[BLOCKS_AT_ONCE];
  struct pollfd waiting;
  unsigned i;
  int count;

  waiting.fd = rdmablk_queue_fd(pass->queue);
  waiting.events = POLLIN;
  for (i = 0; i < pass->at_once && pass->next < pass->size; ++i) {
    if (start(pass, &jobs[i]) < 0) return failed("submit a request");
  }
  rdmablk_kick(pass->queue);
  while (rdmablk_pending(pass->queue) > 0) {
    if (poll(&waiting, 1, -1) < 0) continue;
    count = rdmablk_reap(pass->queue, completions, BLOCKS_AT_ONCE);
    if (count < 0) return failed("take completions");
    for (i = 0; i < (unsigned)count; ++i) {
      finish(pass, &completions[i]);
      if (pass->next < pass->size && start(pass, completions[i].user) < 0) {
        return failed("submit a request");
      }
    }
    rdmablk_kick(pass->queue);
  }
  return pass->wrong != 0;
}

static int use(struct rdmablk_image *image) {
  struct rdmablk_info info;
  struct job jobs[BLOCKS_AT_ONCE];
  struct pass pass = {0};
  unsigned i;

  if (rdmablk_get_info(image, &info, sizeof info) < 0) return failed("look at the image");
  pass.queue = rdmablk_get_queue(image, 0);
  pass.at_once = info.depth < BLOCKS_AT_ONCE ? info.depth : BLOCKS_AT_ONCE;
  pass.size = rdmablk_get_size(image);
  if (rdmablk_memory_alloc(image, BLOCKS_AT_ONCE * BLOCK, &pass.memory) < 0) {
    return failed("have memory");
  }
  for (i = 0; i < BLOCKS_AT_ONCE; ++i) {
    jobs[i].data = (unsigned char *)rdmablk_memory_data(pass.memory) + (size_t)i * BLOCK;
  }
  pass.writes = 1;
  if (run(&pass, jobs) != 0) return 1;
  if (rdmablk_sync(pass.queue) < 0) return failed("flush");
  pass.writes = 0;
  pass.next = 0;
  if (run(&pass, jobs) != 0) return 1;
  printf("%llu bytes were written, flushed, read and compared\n", (unsigned long long)pass.size);
  return 0;
}

int main(int argc, char **argv) {
  struct rdmablk_options *options;
  struct rdmablk_image *image;
  int error;
  int status;

  if (argc != 2 && argc != 3) {
    fprintf(stderr, "Usage: %s rdmablk://HOST/EXPORT [KEY-FILE]\n", argv[0]);
    return 2;
  }
  options = rdmablk_options_new();
  if (options == NULL) return failed("begin");
  rdmablk_options_set_depth(options, BLOCKS_AT_ONCE);
  rdmablk_options_set_log(options, print_log, NULL, RDMABLK_LOG_WARNING);
  if (argc == 3) rdmablk_options_set_key_file(options, argv[2]);
  error = rdmablk_connect(argv[1], options, &image);
  rdmablk_options_free(options);
  if (error < 0) return failed("connect");
  status = use(image);
  rdmablk_close(image); /* frees the memory, too */
  return status;
}
