/*
 * Counts the calls that change files below one folder, over all threads and processes that preload this library, and
 * fails those that the plan asks for (test/helpers/faults/fault-plan.ts). SLUICE_FAULT_FOLDER is the folder,
 * SLUICE_FAULT_PLAN the file that holds the plan and is mapped by everybody.
 *
 * Both names of a call are covered where glibc has one for 64 bits. Reads, locks and stores into mapped memory are not.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

/* The bytes of the plan file; PLAN_LAYOUT in fault-plan.ts has the same offsets. */
struct plan {
  int counted;    /* calls that matched so far */
  int first;      /* the first call that fails, from 1; 0 for none */
  int last;       /* the last one */
  int number;     /* errno of a failed call */
  int half;       /* 1: a failed write has written its first half */
  int full;       /* 1: only what takes room on the disk fails */
  int failed;     /* calls that have failed */
  int unused;
  char call[32];  /* only calls of this name match; empty for all */
  char ending[64];  /* only files that end like this match; empty for all */
  char what[512]; /* the first call that failed, and its file */
};

static struct plan *plan;
static const char *folder;

__attribute__((constructor)) static void start(void) {
  const char *file = getenv("SLUICE_FAULT_PLAN");
  folder = getenv("SLUICE_FAULT_FOLDER");
  if (file == NULL || folder == NULL) return;
  int descriptor = open(file, O_RDWR | O_CLOEXEC);
  if (descriptor < 0) return;
  void *mapped = mmap(NULL, sizeof(struct plan), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  close(descriptor);
  if (mapped != MAP_FAILED) plan = mapped;
}

static void *next(const char *name) {
  void *found = dlsym(RTLD_NEXT, name);
  if (found == NULL) abort();
  return found;
}

#define NEXT(name) \
  static __typeof__(&name) real; \
  if (real == NULL) real = next(#name)

/* Whether this call is one that has to fail; sets errno if so. */
static int fails(const char *call, const char *path, int takes_room) {
  if (plan == NULL || path == NULL || strncmp(path, folder, strlen(folder)) != 0) return 0;
  if (plan->call[0] != 0 && strcmp(plan->call, call) != 0) return 0;
  size_t length = strlen(path), ending = strlen(plan->ending);
  if (ending > length || strcmp(path + length - ending, plan->ending) != 0) return 0;
  int number = __atomic_add_fetch(&plan->counted, 1, __ATOMIC_SEQ_CST);
  if (plan->first == 0 || number < plan->first || number > plan->last) return 0;
  if (plan->full && !takes_room) return 0;
  if (__atomic_add_fetch(&plan->failed, 1, __ATOMIC_SEQ_CST) == 1)
    snprintf(plan->what, sizeof plan->what, "%s %s", call, path + strlen(folder));
  errno = plan->number;
  return 1;
}

/* The same for a descriptor, whose path the kernel knows. Standard streams are never meant. */
static int fails_at(const char *call, int descriptor, int takes_room) {
  if (plan == NULL || descriptor <= 2) return 0;
  int before = errno;
  char link[64], path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  ssize_t length = readlink(link, path, sizeof path - 1);
  errno = before;
  if (length < 0) return 0;
  path[length] = 0;
  return fails(call, path, takes_room);
}

/* Whether the file ends before that offset: what lies before it needs no new room. */
static int grows(int descriptor, off64_t end) {
  struct stat64 found;
  int before = errno;
  int grown = fstat64(descriptor, &found) == 0 && end > found.st_size;
  errno = before;
  return grown;
}

static int is_new(const char *path, int flags) {
  int before = errno;
  int missing = (flags & O_CREAT) != 0 && access(path, F_OK) != 0;
  errno = before;
  return missing;
}

#define OPEN(name) \
  int name(const char *path, int flags, ...) { \
    NEXT(name); \
    va_list rest; \
    va_start(rest, flags); \
    mode_t mode = (flags & (O_CREAT | __O_TMPFILE)) ? va_arg(rest, mode_t) : 0; \
    va_end(rest); \
    int made = is_new(path, flags); \
    if (fails(made ? "create" : "open", path, made)) return -1; \
    return real(path, flags, mode); \
  }
OPEN(open)
OPEN(open64)

#define PWRITE(name, offset_type) \
  ssize_t name(int descriptor, const void *bytes, size_t size, offset_type offset) { \
    NEXT(name); \
    if (!fails_at("write", descriptor, grows(descriptor, offset + (off64_t)size))) \
      return real(descriptor, bytes, size, offset); \
    int number = errno; \
    if (plan->half && size > 1) real(descriptor, bytes, size / 2, offset); \
    errno = number; \
    return -1; \
  }
PWRITE(pwrite, off_t)
PWRITE(pwrite64, off64_t)

ssize_t write(int descriptor, const void *bytes, size_t size) {
  NEXT(write);
  if (!fails_at("write", descriptor, 1)) return real(descriptor, bytes, size);
  int number = errno;
  if (plan->half && size > 1) real(descriptor, bytes, size / 2);
  errno = number;
  return -1;
}

ssize_t writev(int descriptor, const struct iovec *parts, int count) {
  NEXT(writev);
  return fails_at("write", descriptor, 1) ? -1 : real(descriptor, parts, count);
}

#define PWRITEV(name, offset_type) \
  ssize_t name(int descriptor, const struct iovec *parts, int count, offset_type offset) { \
    NEXT(name); \
    return fails_at("write", descriptor, 1) ? -1 : real(descriptor, parts, count, offset); \
  }
PWRITEV(pwritev, off_t)
PWRITEV(pwritev64, off64_t)

#define TRUNCATE(name, length_type) \
  int name(int descriptor, length_type length) { \
    NEXT(name); \
    return fails_at("truncate", descriptor, grows(descriptor, length)) ? -1 : real(descriptor, length); \
  }
TRUNCATE(ftruncate, off_t)
TRUNCATE(ftruncate64, off64_t)

#define SYNC(name) \
  int name(int descriptor) { \
    NEXT(name); \
    return fails_at("sync", descriptor, 0) ? -1 : real(descriptor); \
  }
SYNC(fsync)
SYNC(fdatasync)

int rename(const char *from, const char *to) {
  NEXT(rename);
  return fails("rename", to, 0) ? -1 : real(from, to);
}

int unlink(const char *path) {
  NEXT(unlink);
  return fails("unlink", path, 0) ? -1 : real(path);
}

int rmdir(const char *path) {
  NEXT(rmdir);
  return fails("unlink", path, 0) ? -1 : real(path);
}

int mkdir(const char *path, mode_t mode) {
  NEXT(mkdir);
  return fails("mkdir", path, 1) ? -1 : real(path, mode);
}

char *mkdtemp(char *template) {
  NEXT(mkdtemp);
  return fails("mkdir", template, 1) ? NULL : real(template);
}

int chmod(const char *path, mode_t mode) {
  NEXT(chmod);
  return fails("chmod", path, 0) ? -1 : real(path, mode);
}

int fchmod(int descriptor, mode_t mode) {
  NEXT(fchmod);
  return fails_at("chmod", descriptor, 0) ? -1 : real(descriptor, mode);
}
