// How long a job of the thread pool takes beside the same job under OpenMP (libgomp), idle and beside a busy neighbour.
// Prints the table of docs/design/thread_pool.md. Usage: thread_pool_bench [THREADS] [JOBS] [ATTEMPTS] [CASE]
// where CASE is a part of the names of the cases to run.
//
// Every cell is measured up to ATTEMPTS times, and the attempt in which other processes used least of the machine is
// shown; the last column says how much that was.
#include <omp.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "base/function_ref.h"
#include "base/thread_pool.h"

namespace wherry {
namespace {

using Clock = std::chrono::steady_clock;

double MicrosecondsSince(Clock::time_point start) {
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

// Arithmetic that the compiler cannot shorten: a fixed amount of work, not of time, so that a slowed thread takes
// longer.
void Work(int64_t steps) {
  double x = 1.0;
  for (int64_t i = 0; i < steps; ++i) {
    x = x * 0.999 + 0.001;
    asm volatile("" : "+x"(x));
  }
}

int64_t StepsFor(double microseconds) {
  constexpr int64_t kTrial = 100000;
  double best = 1e9;
  for (int i = 0; i < 50; ++i) {
    const auto start = Clock::now();
    Work(kTrial);
    best = std::min(best, MicrosecondsSince(start));
  }
  return static_cast<int64_t>(kTrial * microseconds / best);
}

struct Summary {
  double p50, mean, p99, max;  // microseconds
  double others;               // processors that other processes used meanwhile
};

// Processor seconds that the whole machine, and this process, have used.
double MachineSeconds() {
  std::ifstream file("/proc/stat");
  std::string cpu;
  double user = 0, nice = 0, system = 0, idle = 0, wait = 0, irq = 0, soft_irq = 0;
  file >> cpu >> user >> nice >> system >> idle >> wait >> irq >> soft_irq;
  return (user + nice + system + irq + soft_irq) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

double OwnSeconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

// Times `jobs` calls, each `batch` times over, after a pause in which every library's threads go to sleep. `gap_us` is
// left between two calls.
Summary MeasureOnce(int jobs, int batch, int gap_us, FunctionRef<void()> job) {
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  job();
  std::vector<double> times;
  const double others_before = MachineSeconds() - OwnSeconds();
  const auto begin = Clock::now();
  for (int i = 0; i < jobs; ++i) {
    if (gap_us > 0) usleep(static_cast<useconds_t>(gap_us));
    const auto start = Clock::now();
    for (int j = 0; j < batch; ++j) job();
    times.push_back(MicrosecondsSince(start) / batch);
  }
  const double wall = MicrosecondsSince(begin) * 1e-6;
  const double others = (MachineSeconds() - OwnSeconds() - others_before) / wall;
  std::sort(times.begin(), times.end());
  const double sum = std::accumulate(times.begin(), times.end(), 0.0);
  const auto at = [&](double q) { return times[static_cast<size_t>(q * static_cast<double>(times.size() - 1))]; };
  return {at(0.5), sum / jobs, at(0.99), times.back(), std::max(others, 0.0)};
}

struct Options {
  int jobs;
  int attempts;
  const char* only;  // part of a case's name
};

Summary Measure(const Options& options, int batch, int gap_us, FunctionRef<void()> job) {
  constexpr double kQuiet = 0.05;
  Summary best = MeasureOnce(options.jobs, batch, gap_us, job);
  for (int i = 1; i < options.attempts && best.others > kQuiet; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    const Summary next = MeasureOnce(options.jobs, batch, gap_us, job);
    if (next.others < best.others) best = next;
  }
  return best;
}

void PrintRow(const char* name, const char* who, const Summary& s) {
  std::printf("| %-43s | %-10s | %8.2f | %8.2f | %8.2f | %8.2f | %4.2f |\n", name, who, s.p50, s.mean, s.p99, s.max,
              s.others);
  std::fflush(stdout);
}

// One case under the pool, under OpenMP, and on one thread.
void Compare(const char* name, ThreadPool* pool, int64_t chunks, int64_t steps, const Options& options, int batch,
             int gap_us) {
  if (std::strstr(name, options.only) == nullptr) return;
  PrintRow(name, "wherry", Measure(options, batch, gap_us, [&] { pool->Run(chunks, [&](int64_t) { Work(steps); }); }));
  PrintRow("", "libgomp", Measure(options, batch, gap_us, [&] {
#pragma omp parallel for schedule(dynamic, 1) num_threads(pool->threads())
             for (int64_t chunk = 0; chunk < chunks; ++chunk) Work(steps);
           }));
  PrintRow("", "one thread", Measure(options, batch, gap_us, [&] {
             for (int64_t chunk = 0; chunk < chunks; ++chunk) Work(steps);
           }));
}

int Main(int argc, char** argv) {
  const int threads = argc > 1 ? std::atoi(argv[1]) : ThreadPool::DefaultThreads();
  const Options options = {argc > 2 ? std::atoi(argv[2]) : 400, argc > 3 ? std::atoi(argv[3]) : 5,
                           argc > 4 ? argv[4] : ""};
  if (threads < 2 || options.jobs < 1 || options.attempts < 1) {
    std::fprintf(stderr, "usage: thread_pool_bench [THREADS >= 2] [JOBS >= 1] [ATTEMPTS >= 1] [CASE]\n");
    return 2;
  }
  ThreadPool pool(threads);
  constexpr int64_t kChunks = 16;
  const int64_t steps = StepsFor(200.0 / kChunks);
  std::printf("%d threads, microseconds\n\n", threads);
  std::printf("| %-43s | %-10s | %8s | %8s | %8s | %8s | %s |\n", "", "", "p50", "mean", "p99", "max", "others");
  std::printf("|---|---|---|---|---|---|---|\n");
  Compare("empty job, back to back", &pool, threads, 0, options, 500, 0);
  Compare("empty job, 1 ms apart", &pool, threads, 0, options, 1, 1000);
  Compare("200 us of work in 16 chunks, back to back", &pool, kChunks, steps, options, 1, 0);
  Compare("200 us of work in 16 chunks, 1 ms apart", &pool, kChunks, steps, options, 1, 1000);
  Compare("200 us of work in 16 chunks, 20 ms apart", &pool, kChunks, steps, options, 1, 20000);

  // Another process that keeps one processor busy, wherever the system puts it.
  const pid_t neighbour = fork();
  if (neighbour == 0) {
    while (getppid() != 1) Work(1000000);
    _exit(0);
  }
  if (neighbour < 0) {
    std::perror("fork");
    return 1;
  }
  Compare("200 us of work in 16 chunks, busy neighbour", &pool, kChunks, steps, options, 1, 0);
  kill(neighbour, SIGKILL);
  waitpid(neighbour, nullptr, 0);
  return 0;
}

}  // namespace
}  // namespace wherry

int main(int argc, char** argv) { return wherry::Main(argc, argv); }
