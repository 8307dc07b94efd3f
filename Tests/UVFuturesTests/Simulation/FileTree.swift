import FoundationEssentials
import Glibc
import UVFutures

/// All that is below a directory: of each file, what it is, and its contents.
struct FileTree {
    private let root: Directory
    private let loop: EventLoop
    private let traits: FileTraits

    init(_ root: Directory, _ loop: EventLoop, _ traits: FileTraits) {
        (self.root, self.loop, self.traits) = (root, loop, traits)
    }

    var lines: [String] {
        do {
            let paths = try loop.all(root.walk()).map(\.path).sorted()
            // The first name of each file, by which its others are known.
            var first: [UInt64: String] = [:]
            return try paths.map { path in
                let information = try loop.run(until: root.information(of: path, followingLink: false))
                let same = first[information.inode]
                if same == nil { first[information.inode] = path }
                let what = traits.describe(information)
                return
                    "\(path): \(what)\(same.map { ", the same as \($0)" } ?? "") \(try contents(path, information))"
            }
        } catch { return ["no tree: \(error)"] }
    }

    private func contents(_ path: String, _ information: FileInformation) throws -> String {
        switch information.kind {
        case .symbolicLink: return "to \(try loop.run(until: root.target(ofSymbolicLink: path)))"
        case .regularFile where information.size <= 100_000 && information.permissions & 0o400 != 0:
            return try loop.run(until: root.contents(of: path)).digest
        default: return ""
        }
    }
}

/// What a file system of the kernel does that others do not.
struct FileTraits {
    /// Whether the system checks no permissions, and leaves all of them as they are set.
    let isRoot = geteuid() == 0
    /// Whether two changes that are looked at have two times.
    let hasFineTimes: Bool
    /// Whether a directory has a link for each directory in it, and two more.
    let countsLinksOfDirectories: Bool
    /// Whether files have the largest size of ext4.
    let hasLargestSize: Bool

    init(of path: String, on loop: EventLoop) throws {
        let root = try loop.run(until: Directory.open(path, on: loop))
        try loop.run(until: root.makeDirectory("probe"))
        let directory = try loop.run(until: root.information(of: "probe"))
        countsLinksOfDirectories = directory.linkCount == 2
        var times: Set<Date> = [directory.changed]
        for _ in 0..<50 {
            try loop.run(until: root.setPermissions(of: "probe", to: 0o700))
            times.insert(try loop.run(until: root.information(of: "probe")).changed)
        }
        hasFineTimes = times.count == 51
        let file = try loop.run(until: root.makeTemporaryFile())
        let largest = (1 << 44) - 4096
        let fits = [largest, largest + 1].map { size in
            (try? loop.run(until: file.truncate(to: size))) != nil
        }
        hasLargestSize = fits == [true, false]
        try loop.run(until: file.close())
        try loop.run(until: root.removeDirectory("probe"))
        try loop.run(until: root.close())
    }

    /// Describes what all file systems agree on.
    func describe(_ information: FileInformation) -> String {
        let isDirectory = information.kind == .directory
        let size = isDirectory ? "" : " of \(information.size) bytes"
        let links =
            isDirectory && !countsLinksOfDirectories ? "" : ", \(information.linkCount) links"
        return "\(information.kind)\(size), 0o\(String(information.permissions, radix: 8))\(links)"
    }
}

extension Data {
    /// The number of bytes, and a sum of them that knows their order.
    var digest: String { "\(count) bytes, \(reduce(5381) { ($0 &* 33) ^ Int($1) })" }
}
