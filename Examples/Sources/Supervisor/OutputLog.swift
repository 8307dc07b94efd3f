import ExampleSupport
import Foundation
import UVFutures

/// Lines with the names of their programs: on the standard output, or in a file that becomes FILE.1 when it is full.
final class OutputLog {
    private let queue: FutureQueue<Void>
    private let limit: Int
    private var directory: Directory?
    private var name = ""
    private var size = 0

    init(_ path: String?, limit: Int, on loop: EventLoop) async throws {
        (queue, self.limit) = (FutureQueue(on: loop), limit)
        guard let url = path.map(URL.init(fileURLWithPath:)) else { return }
        name = url.lastPathComponent
        directory = try await Directory.open(url.deletingLastPathComponent().path, on: loop).value
        try await write("supervisor", "begins").value
        size = try await directory!.information(of: name).value.size
    }

    /// Writes a line behind all others. A program has to wait for that before its next line is read.
    @discardableResult
    func write(_ program: String, _ line: String) -> Future<Void> {
        let text = "\(program): \(line)"
        guard let directory else { return queue.enqueue { say(text) } }
        return queue.enqueue { [self] () -> Future<Void> in
            size += text.utf8.count + 1
            guard size > limit else { return directory.append(Data("\(text)\n".utf8), to: name) }
            size = text.utf8.count + 1
            // A file that cannot be renamed goes on.
            return directory.rename(name, to: "\(name).1").recover { _ in }.flatMap { [self] in
                directory.append(Data("\(text)\n".utf8), to: name)
            }
        }
    }

    func whenWritten() -> Future<Void> { queue.whenEmpty() }
}
