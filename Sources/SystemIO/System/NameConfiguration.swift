internal import CFuturesSystem
internal import Glibc

/// The contents of the files that configure how a system resolves names: the bytes of `resolv.conf` and of `hosts`, or
/// none if there is no such file. The numbers of `stamp` change when one of the files changes.
package typealias NameConfiguration = (stamp: [Int], resolvConf: [UInt8], hosts: [UInt8])

/// The two files of a `NameConfiguration` in a file system.
package struct NameFiles {
    private let resolvConf, hosts: String

    package init(resolvConf: String = "/etc/resolv.conf", hosts: String = "/etc/hosts") {
        self.resolvConf = resolvConf
        self.hosts = hosts
    }

    /// Reads both files. Returns `nil` if they have not changed since `stamp` was taken.
    package func read(unless stamp: [Int]?) -> NameConfiguration? {
        // Taken before the files are read. If they change meanwhile, the next call reads them again.
        let current = Self.stamp(of: resolvConf) + Self.stamp(of: hosts)
        guard current != stamp else { return nil }
        return (current, Self.bytes(of: resolvConf), Self.bytes(of: hosts))
    }

    private static func stamp(of path: String) -> [Int] {
        var status = Glibc.stat()
        guard unsafe stat(path, &status) == 0 else { return [] }
        let (changed, size) = (status.st_mtim, Int(status.st_size))
        return [Int(bitPattern: UInt(status.st_ino)), size, changed.tv_sec, changed.tv_nsec]
    }

    /// Returns the bytes of a file, and stops when there are `longest` or more. Empty if the system refuses. Blocks.
    static func bytes(of path: String, upTo longest: Int = 16 << 20) -> [UInt8] {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return [] }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        while bytes.count < longest {
            let part = unsafe [UInt8](unsafeUninitializedCapacity: 65_536) { buffer, count in
                count = unsafe max(0, Glibc.read(descriptor, buffer.baseAddress, buffer.count))
            }
            if part.isEmpty { break }
            bytes += part
        }
        return bytes
    }
}
