internal import CFuturesSystem
internal import Glibc

/// The contents of the files that configure how a system resolves names.
package struct NameConfiguration {
    /// Numbers that change when one of the files changes.
    package typealias Stamp = [Int]

    package let stamp: Stamp
    /// The bytes of `resolv.conf`. Empty if there is no such file.
    package let resolvConf: [UInt8]
    /// The bytes of `hosts`. Empty if there is no such file.
    package let hosts: [UInt8]

    package init(stamp: Stamp, resolvConf: [UInt8], hosts: [UInt8]) {
        self.stamp = stamp
        self.resolvConf = resolvConf
        self.hosts = hosts
    }
}

/// The two files of a `NameConfiguration` in a file system.
package struct NameFiles {
    private let resolvConf, hosts: String

    package init(resolvConf: String = "/etc/resolv.conf", hosts: String = "/etc/hosts") {
        self.resolvConf = resolvConf
        self.hosts = hosts
    }

    /// Reads both files. Returns `nil` if they have not changed since `stamp` was taken.
    package func read(unless stamp: NameConfiguration.Stamp?) -> NameConfiguration? {
        // Taken before the files are read. If they change meanwhile, the next call reads them again.
        let current = Self.stamp(of: resolvConf) + Self.stamp(of: hosts)
        guard current != stamp else { return nil }
        return NameConfiguration(
            stamp: current, resolvConf: Self.bytes(of: resolvConf), hosts: Self.bytes(of: hosts))
    }

    private static func stamp(of path: String) -> NameConfiguration.Stamp {
        var status = Glibc.stat()
        guard unsafe stat(path, &status) == 0 else { return [] }
        let (changed, size) = (status.st_mtim, Int(status.st_size))
        return [Int(bitPattern: UInt(status.st_ino)), size, changed.tv_sec, changed.tv_nsec]
    }

    private static let longest = 16 << 20

    private static func bytes(of path: String) -> [UInt8] {
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
