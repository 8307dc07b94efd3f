import CFuturesSystem
import CLibUV
import Foundation
import Futures
import Glibc
import Testing
import UVFutures

/// A new directory of its own, which is removed at the end.
final class TemporaryDirectory: Sendable {
    let path: String

    init() {
        var template = Array("/tmp/uvfutures-XXXXXX".utf8CString)
        precondition(unsafe mkdtemp(&template) != nil)
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func url(_ name: String) -> String { "\(path)/\(name)" }

    /// Writes a file, which is emptied before if it exists.
    func write(_ name: String, _ text: String = "x", appending: Bool = false) {
        let flags = O_WRONLY | O_CREAT | O_CLOEXEC | (appending ? O_APPEND : O_TRUNC)
        let descriptor = unsafe open(url(name), flags, 0o644)
        precondition(descriptor >= 0, "\(name): \(errno)")
        precondition(unsafe Glibc.write(descriptor, text, text.utf8.count) == text.utf8.count)
        close(descriptor)
    }

    func makeDirectory(_ name: String) { check(unsafe mkdir(url(name), 0o755), name) }

    func rename(_ old: String, _ new: String) { check(unsafe Glibc.rename(url(old), url(new)), old) }

    func remove(_ name: String) { check(unsafe Glibc.remove(url(name)), name) }

    func link(_ name: String, to target: String) { check(unsafe symlink(target, url(name)), name) }

    /// Rotates `log` as `logrotate` does, with a new file each time, and keeps `count` former ones.
    func rotate(keeping count: Int = 20) {
        for number in (0..<count).reversed() {
            let old = number == 0 ? "log" : "log.\(number)"
            if unsafe access(url(old), F_OK) == 0 { rename(old, "log.\(number + 1)") }
        }
        write("log", "")
    }

    /// Whether this process has opened the file that has this name now.
    func isOpen(_ name: String) -> Bool {
        let links = "/proc/self/fd"
        let descriptors = (try? FileManager.default.contentsOfDirectory(atPath: links)) ?? []
        return descriptors.contains {
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "\(links)/\($0)")) == url(name)
        }
    }

    private func check(_ status: CInt, _ name: String) { precondition(status == 0, "\(name): \(errno)") }
}

extension EventLoop {
    /// The next line of a log that is followed.
    func line(of stream: FollowStream) throws -> String? {
        try run(until: stream.readLine().timeout(after: .seconds(10))).map {
            String(decoding: $0, as: UTF8.self)
        }
    }

    /// The next changes, in words: waits for `count`, and takes all that come shortly after.
    func changes(
        of watch: FileWatch, atLeast count: Int = 0, for time: Duration = .milliseconds(100)
    ) throws -> [String] {
        var changes: [String] = []
        while true {
            let limit = changes.count < count ? .seconds(60) : time
            guard let change = try run(until: watch.next().timeout(after: limit).optional()) else {
                return changes
            }
            changes.append("\(change)")
        }
    }
}

extension Future {
    fileprivate func optional() -> Future<Value?> {
        map { $0 }.recover { error in
            guard case FutureError.timedOut = error else { throw error }
            return nil
        }
    }
}
