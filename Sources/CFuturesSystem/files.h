#pragma once
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/stat.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

/// `struct open_how`, and what the kernel calls by numbers that older headers lack.
struct open_rules {
    uint64_t flags;
    uint64_t mode;
    uint64_t resolve;
};
enum {
    CALL_OPENAT2 = 437,
    CALL_FCHMODAT2 = 452,                 // since Linux 6.6
    RESOLVE_NO_MOUNTS = 0x01,
    RESOLVE_NO_MAGIC_LINKS = 0x02,
    RESOLVE_BENEATH_ONLY = 0x08,
};

/// What glibc declares as GNU extensions only.
enum {
    OPEN_PATH = 010000000,
    OPEN_UNNAMED = 020000000 | O_DIRECTORY,
    EMPTY_PATH = 0x1000,
    RENAME_WITHOUT_REPLACING = 1,
    WRITE_AT_END = 0x10,
    LOCK_OF_OPEN_FILE = 37,
};
int rename_with_flags(int old_directory, const char *old, int new_directory, const char *new, unsigned flags)
    __asm__("renameat2");
ssize_t write_with_flags(int file, const struct iovec *parts, int count, off_t offset, int flags) __asm__("pwritev64v2");

/// How often an open is repeated that the kernel gave up, since something on the way was renamed meanwhile, and one whose
/// path seemed to leave the directory. That is also said when what was found has been renamed to elsewhere before the kernel has
/// looked where it is.
enum { OPEN_ATTEMPTS = 64, LEAVING_ATTEMPTS = 4 };

/// Opens `path` at `directory` by the rules `resolve`; the negated error if that fails.
static inline int open_by_rules(int directory, const char *path, int flags, mode_t mode, unsigned resolve) {
    struct open_rules how = {.flags = (uint64_t)(unsigned)(flags | O_CLOEXEC), .mode = mode, .resolve = resolve};
    for (int attempt = 1;; attempt++) {
        long file = syscall(CALL_OPENAT2, directory, path, &how, sizeof how);
        if (file >= 0) return (int)file;
        if (errno == EINTR) continue;
        int most = errno == EAGAIN ? OPEN_ATTEMPTS : errno == EXDEV ? LEAVING_ATTEMPTS : 0;
        if (attempt >= most) return -errno;
    }
}

/// When a file was made, in nanoseconds since 1970. 0 if the file system does not keep it.
static inline int64_t birth_of_file(int file) {
    struct statx status;
    if (syscall(SYS_statx, file, "", EMPTY_PATH, STATX_BTIME, &status) != 0 || !(status.stx_mask & STATX_BTIME)) return 0;
    return status.stx_btime.tv_sec * 1000000000 + status.stx_btime.tv_nsec;
}

/// Writes at the end of a file, wherever that is; the negated error if that fails.
static inline ssize_t write_at_end(int file, const void *bytes, size_t size) {
    struct iovec part = {.iov_base = (void *)bytes, .iov_len = size};
    ssize_t count;
    do {
        count = write_with_flags(file, &part, 1, 0, WRITE_AT_END);
    } while (count < 0 && errno == EINTR);
    return count < 0 ? -errno : count;
}

/// Locks a whole file for this open file description: `type` is `F_RDLCK`, `F_WRLCK` or `F_UNLCK`.
static inline int lock_open_file(int file, short type) {
    struct flock lock = {.l_type = type, .l_whence = SEEK_SET};
    int status;
    do {
        status = fcntl(file, LOCK_OF_OPEN_FILE, &lock);
    } while (status < 0 && errno == EINTR);
    return status < 0 ? -errno : 0;
}

/// Changes the permissions of the file that a descriptor stands for, also of one that is only for a look. Zero, or the
/// negated error: `ENOSYS` if that takes /proc, which is not mounted.
static inline int change_permissions(int file, mode_t permissions) {
    char path[32];
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    if (chmod(path, permissions) == 0) return 0;
    if (errno == ENOENT && syscall(CALL_FCHMODAT2, file, "", permissions, EMPTY_PATH) == 0) return 0;
    return -errno;
}

/// Gives an open file a name, in the same way.
static inline int link_open_file(int file, int directory, const char *name) {
    char path[32];
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    // This link is the caller's own, and not one on a path.
    if (linkat(AT_FDCWD, path, directory, name, AT_SYMLINK_FOLLOW) == 0) return 0;
    if (errno != ENOENT || access("/proc/self/fd", F_OK) == 0) return -errno;
    if (linkat(file, "", directory, name, EMPTY_PATH) == 0) return 0;
    // So says the kernel to who lacks the privilege.
    return errno == ENOENT ? -ENOSYS : -errno;
}

/// `struct linux_dirent64`, of which `name` begins the last part.
struct directory_record {
    uint64_t inode;
    int64_t offset;
    unsigned short size;
    unsigned char type;
    char name[];
};

/// Reads some records; the negated error if that fails, and 0 at the end.
static inline long read_directory(int directory, void *buffer, size_t size) {
    long count = syscall(SYS_getdents64, directory, buffer, size);
    return count < 0 ? -errno : count;
}

/// The name of an entry; NULL for the directory itself and the one above.
static inline const char *name_of_entry(const struct directory_record *record) {
    const char *name = record->name;
    return name[0] == '.' && (!name[1] || (name[1] == '.' && !name[2])) ? NULL : name;
}

/// Whether the file system can tell the kind of a file in its records.
static inline mode_t mode_of_record(const struct directory_record *record) {
    return DTTOIF(record->type);
}
