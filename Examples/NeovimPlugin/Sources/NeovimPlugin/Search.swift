import FoundationEssentials
import UVFutures

/// A search for a text in all files of a tree. Neovim's thread only passes on what was found: files are read on the threads
/// for files, and searched on those of the pool.
struct Search: Sendable {
    struct Match: Sendable {
        let path: Data
        let line: Int
        let text: Data
    }

    private static let largestFile = 4_194_304
    private static let longestLine = 200

    let text: String
    /// The most matches.
    let limit: Int

    /// Calls `tell` with the matches of each file that has some. The files come in any order.
    func run(
        below path: String, on loop: EventLoop, tell: @escaping ([Match]) throws -> Void
    ) -> Future<Void> {
        Future(on: loop) {
            let directory = try await Directory.open(path, on: loop).value
            let results = directory.walk().mapFuture(maxConcurrent: 8) { entry in
                matches(in: entry, of: directory)
            }
            var left = limit
            for try await found in results where !found.isEmpty {
                try tell(Array(found.prefix(left)))
                left -= found.count
                if left <= 0 { return }
            }
        }
    }

    private func matches(in entry: TreeEntry, of directory: Directory) -> Future<[Match]> {
        guard entry.kind == .regularFile, !entry.path.split(separator: "/").contains(".git") else {
            return directory.loop.succeeded([])
        }
        return directory.contents(of: entry.path, limit: Self.largestFile)
            // A file that is too large, has gone meanwhile, or cannot be read has no matches.
            .recover { _ in Data() }
            .flatMap { contents in
                RemoteContext.pool.execute(on: directory.loop) { matches(in: contents, path: entry.path) }
            }
    }

    private func matches(in contents: Data, path: String) -> [Match] {
        let wanted = Data(text.utf8)
        guard !wanted.isEmpty, !contents.prefix(1024).contains(0) else { return [] }
        var (found, rest, line) = ([Match](), contents[...], 1)
        while found.count < limit, let match = rest.firstRange(of: wanted) {
            line += rest[..<match.lowerBound].count { $0 == UInt8(ascii: "\n") }
            let start = contents[..<match.lowerBound].lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
            let end = contents[match.upperBound...].firstIndex(of: UInt8(ascii: "\n")) ?? contents.endIndex
            let shown = contents[start..<end].prefix(Self.longestLine)
            found.append(Match(path: Data(path.utf8), line: line, text: Data(shown)))
            // The next line: one match of each.
            guard end < contents.endIndex else { break }
            rest = contents[(end + 1)...]
            line += 1
        }
        return found
    }
}
