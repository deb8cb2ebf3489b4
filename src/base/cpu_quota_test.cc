#include "base/cpu_quota.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <string>

#include "base/file_test_util.h"

namespace wherry {
namespace {

// A made-up /proc and /sys below the test's folder.
class CpuQuotaTest : public FileTest {
 protected:
  void Put(const std::string& path, const std::string& text) {
    const std::filesystem::path full = folder() + path;
    std::filesystem::create_directories(full.parent_path());
    WriteText(full.string(), text);
  }
};

TEST_F(CpuQuotaTest, NothingReadableIsUnlimited) { EXPECT_TRUE(std::isinf(CgroupCpuQuota(folder()))); }

TEST_F(CpuQuotaTest, Version2TakesTheLeastOnTheWayUp) {
  Put("/proc/self/cgroup", "0::/a/b/c\n");
  Put("/proc/self/mountinfo",
      "22 1 0:20 / /proc rw - proc proc rw\n"
      "30 1 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n");
  EXPECT_TRUE(std::isinf(CgroupCpuQuota(folder())));
  Put("/sys/fs/cgroup/a/b/c/cpu.max", "max 100000\n");
  EXPECT_TRUE(std::isinf(CgroupCpuQuota(folder())));
  Put("/sys/fs/cgroup/a/b/cpu.max", "800000 100000\n");
  EXPECT_EQ(CgroupCpuQuota(folder()), 8);
  Put("/sys/fs/cgroup/a/cpu.max", "150000 100000\n");
  EXPECT_EQ(CgroupCpuQuota(folder()), 1.5);
  Put("/sys/fs/cgroup/other/cpu.max", "10000 100000\n");
  EXPECT_EQ(CgroupCpuQuota(folder()), 1.5);
}

TEST_F(CpuQuotaTest, Version1) {
  Put("/proc/self/cgroup", "5:memory:/m\n4:cpu,cpuacct:/x/y\n0::/\n");
  Put("/proc/self/mountinfo",
      "31 1 0:27 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
      "32 1 0:28 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n");
  Put("/sys/fs/cgroup/cpu,cpuacct/x/y/cpu.cfs_quota_us", "-1\n");
  Put("/sys/fs/cgroup/cpu,cpuacct/x/y/cpu.cfs_period_us", "100000\n");
  EXPECT_TRUE(std::isinf(CgroupCpuQuota(folder())));
  Put("/sys/fs/cgroup/cpu,cpuacct/x/cpu.cfs_quota_us", "200000\n");
  Put("/sys/fs/cgroup/cpu,cpuacct/x/cpu.cfs_period_us", "50000\n");
  EXPECT_EQ(CgroupCpuQuota(folder()), 4);
}

// In a container the mount shows only the container's own group, while the path is still the host's.
TEST_F(CpuQuotaTest, ContainerMountsItsOwnGroup) {
  Put("/proc/self/cgroup", "4:cpu:/docker/0123\n");
  Put("/proc/self/mountinfo", "32 1 0:28 /docker/0123 /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n");
  Put("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "250000\n");
  Put("/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(CgroupCpuQuota(folder()), 2.5);
}

TEST_F(CpuQuotaTest, NonsenseIsUnlimited) {
  Put("/proc/self/cgroup", "::::\n\n0\n0::\n");
  Put("/proc/self/mountinfo", "garbage\n - \n - cgroup2\n30 1 0:26 / /sys rw - cgroup2 x rw\n");
  Put("/sys/cpu.max", "minus one\n");
  EXPECT_TRUE(std::isinf(CgroupCpuQuota(folder())));
  Put("/sys/cpu.max", "100000 0\n");
  EXPECT_TRUE(std::isinf(CgroupCpuQuota(folder())));
  Put("/sys/cpu.max", "-5 100000\n");
  EXPECT_TRUE(std::isinf(CgroupCpuQuota(folder())));
}

TEST(AffinityCpuCountTest, IsAtLeastOne) { EXPECT_GE(AffinityCpuCount(), 1); }

}  // namespace
}  // namespace wherry
