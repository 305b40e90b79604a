/* An exact wall clock for a server under test, its module included.
 *
 *   cc -O2 -shared -fPIC -o clock.so preload.c
 *   SLIDEWIN_CLOCK=file LD_PRELOAD=clock.so redis-server ...
 *
 * The file, 16 bytes, holds two little-endian int64 that the test may write at any time:
 *   frozen_us   not 0: the wall clock reads exactly this, in microseconds since the epoch
 *   offset_us   else it is the real one plus this
 * Both 0, or no SLIDEWIN_CLOCK: the real clock. A file that cannot be mapped ends the process, so
 * that no test passes on the wrong clock. Monotonic clocks always run on, and so do the event
 * loop's timers.
 *
 * jemalloc reads the clock while it starts, before dlsym can work: the clock path makes raw system
 * calls only, allocates nothing and takes no lock. Two threads that map the file at once both
 * succeed, and the second mapping is never freed. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

struct clock { _Atomic int64_t frozen_us, offset_us; };
static const struct clock real;
static const struct clock *_Atomic mapped;

static const struct clock *clock_file(void) {
    if (mapped) return mapped;
    if (!environ) return &real; /* too early in the start-up to know */
    const char *path = getenv("SLIDEWIN_CLOCK");
    if (!path) return mapped = &real;
    int saved = errno;
    int fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
    void *file = mmap(NULL, sizeof(struct clock), PROT_READ, MAP_SHARED, fd, 0);
    if (file == MAP_FAILED) abort();
    syscall(SYS_close, fd);
    errno = saved;
    return mapped = file;
}

int clock_gettime(clockid_t id, struct timespec *ts) {
    if (syscall(SYS_clock_gettime, id, ts)) return -1;
    if (id != CLOCK_REALTIME && id != CLOCK_REALTIME_COARSE) return 0;
    const struct clock *clock = clock_file();
    int64_t frozen_us = clock->frozen_us, offset_us = clock->offset_us;
    if (!frozen_us && !offset_us) return 0;
    int64_t us = frozen_us ? frozen_us : ts->tv_sec * 1000000 + ts->tv_nsec / 1000 + offset_us;
    *ts = (struct timespec){us / 1000000, us % 1000000 * 1000};
    return 0;
}

int gettimeofday(struct timeval *restrict tv, void *restrict tz) {
    (void)tz; /* obsolete; nobody passes one */
    struct timespec ts;
    clock_gettime(CLOCK_REALTIME, &ts);
    *tv = (struct timeval){ts.tv_sec, ts.tv_nsec / 1000};
    return 0;
}

time_t time(time_t *out) {
    struct timespec ts;
    clock_gettime(CLOCK_REALTIME, &ts);
    if (out) *out = ts.tv_sec;
    return ts.tv_sec;
}

/* Valkey 9.1 reads the wall clock once a millisecond and adds a count of CPU ticks in between, which
 * nothing can override. Where it cannot see that the CPU's ticks are constant, it does neither. */
FILE *fopen64(const char *restrict path, const char *restrict mode) {
    return strcmp(path, "/proc/cpuinfo") ? fopen(path, mode) : NULL;
}

/* Valkey 8.1 and later open modules with RTLD_DEEPBIND: they would find libc's clock before this one. */
void *dlopen(const char *file, int flags) {
    static void *(*next)(const char *, int);
    if (!next) next = (void *(*)(const char *, int))dlsym(RTLD_NEXT, "dlopen");
    return next(file, flags & ~RTLD_DEEPBIND);
}
