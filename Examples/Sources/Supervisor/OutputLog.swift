import Foundation
import Glibc
import UVFutures

/// Lines of all programs in one file, which gives way to a new one when it is full.
final class OutputLog {
    private let path: String?
    private let limit: Int
    private let loop: EventLoop
    private var stream: DescriptorStream
    private var size = 0

    init(_ path: String?, size limit: Int, on loop: EventLoop) throws {
        (self.path, self.limit, self.loop) = (path, limit, loop)
        stream = try path.map { try Self.open($0, on: loop) } ?? loop.standardOutput()
    }

    private static func open(_ path: String, on loop: EventLoop) throws -> DescriptorStream {
        let descriptor = unsafe Glibc.open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o640)
        guard descriptor >= 0 else {
            throw Refusal(
                description: "\(path) cannot be written; give a path in a folder that you may write")
        }
        return try DescriptorStream(adopting: descriptor, on: loop)
    }

    @discardableResult
    func write(_ name: String, _ line: String) -> Future<Void> {
        let text = Data("\(name): \(line)\n".utf8)
        if let path, size > 0, size + text.count > limit { rotate(path) }
        size += text.count
        return stream.write(text).ignoreFailure()
    }

    private func rotate(_ path: String) {
        guard unsafe rename(path, "\(path).1") == 0, let next = try? Self.open(path, on: loop) else { return }
        stream.close().ignoreFailure()
        (stream, size) = (next, 0)
    }

    func close() -> Future<Void> { stream.close() }
}
