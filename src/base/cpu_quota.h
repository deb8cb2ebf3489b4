// How much CPU time the control groups of this process allow.
#pragma once

#include <string>

namespace wherry {

// The least quota, in cores, that any cgroup (v1 or v2) from this process's own up to its mount point sets; infinity
// when none does or nothing can be read. `root` is put before every path that is read (/proc/..., /sys/...), for tests.
double CgroupCpuQuota(const std::string& root = "");

// Cores in the affinity mask of the calling thread, at least 1.
int AffinityCpuCount();

}  // namespace wherry
