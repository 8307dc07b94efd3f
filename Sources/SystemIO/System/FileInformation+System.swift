internal import CFuturesSystem
internal import FoundationEssentials
internal import Glibc

extension FileInformation {
    init(_ status: stat) {
        self.init(
            kind: FileKind(mode: status.st_mode), size: Int(status.st_size),
            allocatedSize: Int(status.st_blocks) * 512, permissions: status.st_mode & 0o7777,
            owner: status.st_uid, group: status.st_gid, linkCount: UInt64(status.st_nlink),
            inode: UInt64(status.st_ino), device: UInt64(status.st_dev), accessed: Date(status.st_atim),
            modified: Date(status.st_mtim), changed: Date(status.st_ctim))
    }
}

extension FileKind {
    init(mode: mode_t) {
        self =
            switch mode & S_IFMT {
            case S_IFREG: .regularFile
            case S_IFDIR: .directory
            case S_IFLNK: .symbolicLink
            case S_IFIFO: .fifo
            case S_IFSOCK: .socket
            case S_IFCHR: .characterDevice
            case S_IFBLK: .blockDevice
            default: .unknown
            }
    }
}

extension Date {
    fileprivate init(_ time: timespec) {
        self.init(timeIntervalSince1970: Double(time.tv_sec) + Double(time.tv_nsec) / 1e9)
    }
}
