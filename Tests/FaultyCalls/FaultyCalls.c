#define _GNU_SOURCE
#include "FaultyCalls.h"

#ifdef __linux__
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

static const char *folder;
// Which calls count, and whose: all, where nothing is said.
static const char *only, *part;
static int kills, linkless, endless;
static long first, last, seen;
static int error, journal = -1;
// The path of each open file that counts.
static char *paths[1024];

__attribute__((constructor)) static void prepare(void) {
  // What the program starts, git or a sanitizer's symbolizer, is not meant.
  unsetenv("LD_PRELOAD");
  const char *text = getenv("FAULTY_CALLS_FIRST");
  folder = getenv("FAULTY_CALLS_FOLDER");
  only = getenv("FAULTY_CALLS_NAME");
  part = getenv("FAULTY_CALLS_PATH");
  kills = getenv("FAULTY_CALLS_KILL") != 0;
  linkless = getenv("FAULTY_CALLS_NO_LINKS") != 0;
  endless = getenv("FAULTY_CALLS_ENDLESS") != 0;
  first = text ? atol(text) : 0;
  text = getenv("FAULTY_CALLS_LAST");
  last = text ? atol(text) : first;
  text = getenv("FAULTY_CALLS_ERRNO");
  error = text ? atoi(text) : EIO;
  text = getenv("FAULTY_CALLS_LOG");
  if (text) {
    journal = syscall(SYS_openat, AT_FDCWD, text, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  }
}

static int counts(const char *path) {
  if (!folder || !path) return 0;
  if (path[0] != '/') return 1;
  size_t length = strlen(folder);
  return !strncmp(path, folder, length) && (path[length] == '/' || !path[length]);
}

// Whether the call is one of those that fail.
static int fails(const char *name, const char *path) {
  if (!counts(path)) return 0;
  if (linkless && !strcmp(name, "link")) {
    errno = EPERM;
    return 1;
  }
  if (only && strcmp(only, name)) return 0;
  if (part && !strstr(path, part)) return 0;
  long number = ++seen;
  if (journal >= 0) {
    char line[PATH_MAX + 64];
    int count = snprintf(line, sizeof line, "%s %s\n", name, path);
    if (count > 0) syscall(SYS_write, journal, line, (size_t)count);
  }
  if (!first || number < first || number > last) return 0;
  if (kills) raise(SIGKILL);
  errno = error;
  return 1;
}

static const char *path_of(int file) { return file >= 0 && file < 1024 ? paths[file] : 0; }

static int opened(int file, const char *path) {
  if (file >= 0 && file < 1024 && counts(path)) {
    free(paths[file]);
    paths[file] = strdup(path);
  }
  return file;
}

#define REAL(result, name, ...)                                  \
  static result (*real)(__VA_ARGS__);                            \
  if (!real) real = (result(*)(__VA_ARGS__))dlsym(RTLD_NEXT, #name)

// A call that names a file.
#define BY_PATH(result, failure, name, parameters, arguments, ...) \
  result name parameters {                                         \
    REAL(result, name, __VA_ARGS__);                               \
    return fails(#name, path) ? failure : real arguments;          \
  }

// A call for an open file.
#define BY_FILE(result, failure, name, parameters, arguments, ...) \
  result name parameters {                                         \
    REAL(result, name, __VA_ARGS__);                               \
    return fails(#name, path_of(file)) ? failure : real arguments; \
  }

// A flag that makes a file comes with its mode.
#define MODE(flags)                                  \
  mode_t mode = 0;                                   \
  if ((flags) & (O_CREAT | __O_TMPFILE)) {           \
    va_list rest;                                    \
    va_start(rest, flags);                           \
    mode = va_arg(rest, mode_t);                     \
    va_end(rest);                                    \
  }

#define OPEN(name)                                        \
  int name(const char *path, int flags, ...) {            \
    REAL(int, name, const char *, int, mode_t);           \
    MODE(flags)                                           \
    if (fails(flags & O_CREAT ? "create" : "open", path)) return -1; \
    return opened(real(path, flags, mode), path);         \
  }

#define OPEN_AT(name)                                     \
  int name(int at, const char *path, int flags, ...) {    \
    REAL(int, name, int, const char *, int, mode_t);      \
    MODE(flags)                                           \
    if (fails(flags & O_CREAT ? "create" : "open", path)) return -1; \
    return opened(real(at, path, flags, mode), path);     \
  }

OPEN(open)
OPEN(open64)
OPEN_AT(openat)
OPEN_AT(openat64)

BY_FILE(ssize_t, -1, read, (int file, void *to, size_t count), (file, to, count), int, void *, size_t)
BY_FILE(ssize_t, -1, pread, (int file, void *to, size_t count, off_t at), (file, to, count, at), int,
        void *, size_t, off_t)
BY_FILE(ssize_t, -1, pread64, (int file, void *to, size_t count, off64_t at), (file, to, count, at),
        int, void *, size_t, off64_t)
BY_FILE(ssize_t, -1, write, (int file, const void *from, size_t count), (file, from, count), int,
        const void *, size_t)
BY_FILE(ssize_t, -1, pwrite, (int file, const void *from, size_t count, off_t at),
        (file, from, count, at), int, const void *, size_t, off_t)
BY_FILE(ssize_t, -1, pwrite64, (int file, const void *from, size_t count, off64_t at),
        (file, from, count, at), int, const void *, size_t, off64_t)
BY_FILE(int, -1, fsync, (int file), (file), int)
BY_FILE(int, -1, fdatasync, (int file), (file), int)
BY_FILE(int, -1, ftruncate, (int file, off_t size), (file, size), int, off_t)
BY_FILE(int, -1, ftruncate64, (int file, off64_t size), (file, size), int, off64_t)
BY_FILE(int, -1, fchmod, (int file, mode_t mode), (file, mode), int, mode_t)
BY_FILE(int, -1, fstat, (int file, struct stat *to), (file, to), int, struct stat *)
BY_FILE(int, -1, fstat64, (int file, struct stat64 *to), (file, to), int, struct stat64 *)
BY_FILE(void *, MAP_FAILED, mmap,
        (void *at, size_t size, int protection, int flags, int file, off_t offset),
        (at, size, protection, flags, file, offset), void *, size_t, int, int, int, off_t)
BY_FILE(void *, MAP_FAILED, mmap64,
        (void *at, size_t size, int protection, int flags, int file, off64_t offset),
        (at, size, protection, flags, file, offset), void *, size_t, int, int, int, off64_t)

BY_PATH(int, -1, rename, (const char *path, const char *to), (path, to), const char *, const char *)
BY_PATH(int, -1, link, (const char *path, const char *to), (path, to), const char *, const char *)
BY_PATH(int, -1, unlink, (const char *path), (path), const char *)
BY_PATH(int, -1, mkdir, (const char *path, mode_t mode), (path, mode), const char *, mode_t)
BY_PATH(int, -1, access, (const char *path, int mode), (path, mode), const char *, int)
BY_PATH(int, -1, stat, (const char *path, struct stat *to), (path, to), const char *, struct stat *)
BY_PATH(int, -1, stat64, (const char *path, struct stat64 *to), (path, to), const char *,
        struct stat64 *)
BY_PATH(int, -1, lstat, (const char *path, struct stat *to), (path, to), const char *, struct stat *)
BY_PATH(int, -1, lstat64, (const char *path, struct stat64 *to), (path, to), const char *,
        struct stat64 *)
BY_PATH(char *, NULL, realpath, (const char *path, char *to), (path, to), const char *, char *)
BY_PATH(DIR *, NULL, opendir, (const char *path), (path), const char *)

// The file is closed whatever is said.
int close(int file) {
  REAL(int, close, int);
  int isFailing = fails("close", path_of(file));
  if (file >= 0 && file < 1024 && paths[file]) {
    free(paths[file]);
    paths[file] = 0;
  }
  int result = real(file);
  if (!isFailing) return result;
  errno = error;
  return -1;
}

// Locks, and all that comes with one argument.
#define CONTROL(name)                                     \
  int name(int file, int command, ...) {                  \
    REAL(int, name, int, int, void *);                    \
    va_list rest;                                         \
    va_start(rest, command);                              \
    void *argument = va_arg(rest, void *);                \
    va_end(rest);                                         \
    if (command == F_SETLK && fails("lock", path_of(file))) return -1; \
    return real(file, command, argument);                 \
  }

CONTROL(fcntl)
CONTROL(fcntl64)

// 16 EiB, which is one byte more than 64 bits hold.
#define SPACE(name)                                    \
  int name(const char *path, struct name *space) {     \
    REAL(int, name, const char *, struct name *);      \
    int result = real(path, space);                    \
    if (!result && endless) {                          \
      space->f_frsize = space->f_bsize = 4096;         \
      space->f_blocks = space->f_bavail = 1ULL << 52;  \
    }                                                  \
    return result;                                     \
  }

SPACE(statvfs)
SPACE(statvfs64)
#endif
