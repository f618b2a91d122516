# What scripts/bench measures on one machine, in words, and what it should reach.

def subject($id; $what): {id: $id, name: $id, what: $what};

def memory_group: {
  id: "memory", title: "Memory", base: "rdmablk",
  note: "Mounts of memory, each served by its own daemon; all on this machine. Above 1: rdmablk is faster.",
  subjects: [
    subject("null"; "rdmablk-fuse --null: the same FUSE layer on memory of its own, without RDMA: the ceiling"),
    subject("plain"; "a few lines on libfuse, with its own loop, so that a slow FUSE layer cannot hide behind its own ceiling"),
    subject("rdmablk"; "a memory export of rdmablk-target on \($device), mounted by rdmablk-fuse"),
    subject("nbdkit"; "nbdkit memory, mounted by nbdfuse through a Unix socket"),
    subject("qsd"; "qemu-storage-daemon's FUSE export of a file in tmpfs; only its time: with several requests at once, 7.2 mixes up their data")],
  workloads: $workloads
};

def file_group: {
  id: "file", title: "A file", base: "rdmablk",
  note: "The same file on \($file_system): as it is, and through two mounts. 1: as fast as the file itself.",
  subjects: [
    subject("file"; "the file itself, with O_DIRECT"),
    subject("rdmablk"; "a file export of rdmablk-target (\($export_options)) on \($device), mounted by rdmablk-fuse"),
    subject("nbdkit"; "nbdkit file, mounted by nbdfuse through a Unix socket; it goes through the page cache")],
  workloads: $workloads
};

def at_least($text; $against; $least; $workloads): {
  text: $text, group: "memory", subject: "rdmablk", against: $against, at_least: $least, workloads: $workloads,
  metric: (if $workloads[0] | test("-1m-") then "bandwidth_bytes_per_second" else "iops" end)
};

def aims:
  ["randread-4k-1", "randwrite-4k-1"] as $single | ["randread-4k-32", "randwrite-4k-32"] as $deep
  | ["read-1m-4", "write-1m-4"] as $large
  | [at_least("4 KiB, depth 1, of null"; "null"; 0.95; $single),
     at_least("4 KiB, depth 32, of null"; "null"; 0.85; $deep),
     at_least("1 MiB writes, of null"; "null"; 0.85; ["write-1m-4"]),
     at_least("1 MiB reads, of null"; "null"; 0.75; ["read-1m-4"]),
     at_least("4 KiB, depth 1, of nbdkit"; "nbdkit"; 3; $single),
     at_least("4 KiB, depth 32, of nbdkit"; "nbdkit"; 4; $deep),
     at_least("1 MiB, of nbdkit"; "nbdkit"; 3; $large),
     at_least("4 KiB, depth 1, of qsd"; "qsd"; 1.7; $single),
     at_least("4 KiB, depth 32, of qsd"; "qsd"; 2; $deep),
     at_least("1 MiB, of qsd"; "qsd"; 2; $large),
     {text: "CPU of the target, percent", group: "memory", subject: "rdmablk", metric: "cpu_percent.target",
      workloads: ($workloads | map(.id)), at_most: 0.05}];

def head: . + {
  device: $device, device_is: $device_is, size_bytes: $size, versions: $versions, aims: aims,
  groups: ($groups | split(" ") | map(if . == "memory" then memory_group else file_group end))};
