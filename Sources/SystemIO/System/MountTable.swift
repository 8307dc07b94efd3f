/// The mounts that this process sees.
package struct MountTable: Hashable, Sendable {
    private struct Mount: Hashable {
        let number: [UInt8]
        let device: UInt64
        let path: [UInt8]
    }

    private var mounts: Set<Mount> = []

    /// Creates an empty table.
    package init() {}

    /// The present mounts. Empty if the system does not list them. Blocks.
    package static var current: MountTable {
        MountTable(NameFiles.bytes(of: "/proc/thread-self/mountinfo", upTo: .max))
    }

    /// Parses the lines of `/proc/thread-self/mountinfo`.
    package init(_ text: some Sequence<UInt8>) {
        for line in Array(text).split(separator: UInt8(ascii: "\n")) {
            let fields = line.split(separator: UInt8(ascii: " "), maxSplits: 5)
            guard fields.count > 4 else { continue }
            let device = String(decoding: fields[2], as: UTF8.self).split(separator: ":")
            guard device.count == 2, let major = UInt64(device[0]), let minor = UInt64(device[1]) else {
                continue
            }
            // As the macro `makedev` does.
            let number = (major & ~0xfff) << 32 | (major & 0xfff) << 8 | (minor & ~0xff) << 12 | minor & 0xff
            mounts.insert(
                Mount(number: Array(fields[0]), device: number, path: Self.unescaped(fields[4])))
        }
    }

    /// White space and backslashes are written as three octal digits.
    private static func unescaped(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        var result: [UInt8] = []
        var rest = bytes
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "\\"), rest.count >= 3,
                let value = UInt8(String(decoding: rest.prefix(3), as: UTF8.self), radix: 8)
            else {
                result.append(byte)
                continue
            }
            result.append(value)
            rest = rest.dropFirst(3)
        }
        return result
    }

    /// Returns the mounts below the directory at `path`.
    package func below(_ path: [UInt8]) -> MountTable {
        var below = MountTable()
        let start = path + [UInt8(ascii: "/")]
        below.mounts = mounts.filter { $0.path.starts(with: start) }
        return below
    }

    /// Returns whether something is mounted at the entry `name` of the directory at `path`.
    package func has(path: [UInt8], _ name: RelativePath) -> Bool {
        let path = (path == [UInt8(ascii: "/")] ? [] : path) + [UInt8(ascii: "/")] + name.bytes
        return mounts.contains { $0.path == path }
    }

    /// Returns whether the file system with this number is mounted.
    package func has(device: UInt64) -> Bool { mounts.contains { $0.device == device } }
}
