# A line of runs (README-bench.md) from a result of fio, and the CPU times before and after.

def latencies($infix): {
  "latency_\($infix)mean_ns": .clat_ns.mean,
  "latency_\($infix)p50_ns": .clat_ns.percentile."50.000000",
  "latency_\($infix)p99_ns": .clat_ns.percentile."99.000000"
};

def metrics:
  {iops: (.read.iops + .write.iops), bandwidth_bytes_per_second: (.read.bw_bytes + .write.bw_bytes)}
  + if .read.total_ios > 0 and .write.total_ios > 0
    then (.read | latencies("read_")) + (.write | latencies("write_"))
    elif .read.total_ios > 0 then .read | latencies("") else .write | latencies("") end;

# Threads that ended are in the process's ticks alone, which are up to two too many.
def used($earlier): [.threads - $earlier.threads, .process - $earlier.process - 20000000] | max;

# Of one processor, while fio's requests were under way; 0.2 s of them are its ramp.
def cpu_percent:
  (.usr_cpu + .sys_cpu) as $fio
  | ($after | with_entries(.value = (.key as $key | .value | used($before[$key])) / (($seconds + 0.2) * 1e7)))
    + {fio: $fio};

def run: .jobs[0]
  | {group: $group, subject: $subject, workload: $workload, round: $round, metrics: metrics, cpu_percent: cpu_percent};
