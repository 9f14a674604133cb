/* Preloaded into a process that writes an archive: it is killed (SIGKILL) at a chosen one of the
 * system calls that change the archive's files, before it, after it, or with half of it done.
 * arm(number, how) chooses, calls_seen() tells how many there were. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

enum { before, halfway, after };

static const char archive[] = "killed.sqlite";
static long seen, fatal;
static int manner;

void arm(long number, int how) {
  seen = 0;
  fatal = number;
  manner = how;
}

long calls_seen(void) { return seen; }

static void die(void) { kill(getpid(), SIGKILL); }

static int is_archive(int fd) {
  char link[64], path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  const ssize_t size = readlink(link, path, sizeof path - 1);
  if (size < 0) return 0;
  path[size] = 0;
  return strstr(path, archive) != NULL;
}

/* Counts a call; returns whether it is the fatal one, unless the process dies before it. */
static int is_fatal(int counts) {
  if (!counts || ++seen != fatal) return 0;
  if (manner == before) die();
  return 1;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

#define WRITE_AT(name, offset_type)                                                   \
  ssize_t name(int fd, const void *bytes, size_t size, offset_type offset) {          \
    const int fatal_one = is_fatal(is_archive(fd));                                   \
    const size_t part = fatal_one && manner == halfway ? size / 2 : size;             \
    const ssize_t done = REAL(name)(fd, bytes, part, offset);                         \
    if (fatal_one) die();                                                             \
    return done;                                                                      \
  }

WRITE_AT(pwrite, off_t)
WRITE_AT(pwrite64, off64_t)

#define CHANGE_FILE(name, parameters, arguments)            \
  int name parameters {                                     \
    const int fatal_one = is_fatal(is_archive(fd));         \
    const int done = REAL(name) arguments;                  \
    if (fatal_one) die();                                   \
    return done;                                            \
  }

CHANGE_FILE(ftruncate, (int fd, off_t size), (fd, size))
CHANGE_FILE(ftruncate64, (int fd, off64_t size), (fd, size))
CHANGE_FILE(fsync, (int fd), (fd))
CHANGE_FILE(fdatasync, (int fd), (fd))

int unlink(const char *path) {
  const int fatal_one = is_fatal(strstr(path, archive) != NULL);
  const int done = REAL(unlink)(path);
  if (fatal_one) die();
  return done;
}
