#include "base/cpu_quota.h"

#include <sched.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <memory>
#include <sstream>
#include <vector>

namespace wherry {
namespace {

constexpr double kUnlimited = std::numeric_limits<double>::infinity();

// "cpu,cpuacct" holds "cpu".
bool HasItem(const std::string& comma_list, const std::string& item) {
  return ("," + comma_list + ",").find("," + item + ",") != std::string::npos;
}

double Quota(double microseconds, double period) {
  return microseconds > 0 && period > 0 ? microseconds / period : kUnlimited;
}

double FolderQuota(const std::string& folder, bool v2) {
  double period = 0;
  if (v2) {
    std::ifstream file(folder + "/cpu.max");
    std::string quota;  // a number or "max"
    if (!(file >> quota >> period) || quota == "max") return kUnlimited;
    return Quota(std::atof(quota.c_str()), period);
  }
  double quota = 0;  // -1 when unlimited
  if (!(std::ifstream(folder + "/cpu.cfs_quota_us") >> quota)) return kUnlimited;
  if (!(std::ifstream(folder + "/cpu.cfs_period_us") >> period)) return kUnlimited;
  return Quota(quota, period);
}

// The path of this process in the hierarchy, as /proc/self/cgroup has it: "ID:CONTROLLERS:PATH", v2 is "0::PATH".
std::string CgroupPath(const std::string& root, bool v2) {
  std::ifstream file(root + "/proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    const size_t first = line.find(':');
    const size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    if (v2 ? controllers.empty() : HasItem(controllers, "cpu")) return line.substr(second + 1);
  }
  return "";
}

}  // namespace

double CgroupCpuQuota(const std::string& root) {
  double least = kUnlimited;
  // A line of mountinfo: ID PARENT MAJOR:MINOR ROOT MOUNT_POINT OPTIONS [FIELDS...] - TYPE SOURCE SUPER_OPTIONS
  std::ifstream mounts(root + "/proc/self/mountinfo");
  for (std::string line; std::getline(mounts, line);) {
    const size_t dash = line.find(" - ");
    if (dash == std::string::npos) continue;
    std::string skip, mount_root, mount_point, type, super_options;
    std::istringstream(line) >> skip >> skip >> skip >> mount_root >> mount_point;
    std::istringstream(line.substr(dash + 3)) >> type >> skip >> super_options;
    const bool v2 = type == "cgroup2";
    if (!v2 && !(type == "cgroup" && HasItem(super_options, "cpu"))) continue;

    // A container may see only its own part of the hierarchy: what is above mount_root is not mounted.
    std::string path = CgroupPath(root, v2);
    if (mount_root != "/")
      path = path.compare(0, mount_root.size(), mount_root) == 0 ? path.substr(mount_root.size()) : "";
    if (path == "/") path.clear();
    while (true) {
      least = std::min(least, FolderQuota(root + mount_point + path, v2));
      const size_t slash = path.rfind('/');
      if (slash == std::string::npos) break;
      path.resize(slash);
    }
  }
  return least;
}

int AffinityCpuCount() {
  // The kernel refuses a set smaller than its own, so grow it.
  for (int cpus = 1024; cpus <= (1 << 20); cpus *= 2) {
    std::vector<cpu_set_t> set((static_cast<size_t>(cpus) + CPU_SETSIZE - 1) / CPU_SETSIZE);
    const size_t bytes = set.size() * sizeof(cpu_set_t);
    if (sched_getaffinity(0, bytes, set.data()) == 0) return std::max(1, CPU_COUNT_S(bytes, set.data()));
  }
  return 1;
}

}  // namespace wherry
