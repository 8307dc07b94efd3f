public import Futures

/// A log in memory, for a chat of one process. What it has is gone when the process ends.
public final class MemoryLog {
    private let loop: EventLoop
    private var entries: [LogEntry] = []
    private var count: UInt64 = 0
    private var reader: Promise<[LogEntry]>?

    public init(on loop: EventLoop) { self.loop = loop }

    /// The closures for one hall. It reads each entry once, so an entry that was read is forgotten.
    public var log: ChatLog {
        ChatLog(
            append: { message in self.add(.message(self.nextID(), message)) },
            announce: { presence in self.add(.presence(self.nextID(), presence)) },
            read: { _, waits in self.read(waits) })
    }

    private func nextID() -> EntryID {
        count += 1
        return EntryID(count, 0)
    }

    private func add(_ entry: LogEntry) -> Future<Void> {
        entries.append(entry)
        if let reader = reader.take() { reader.succeed(takeAll()) }
        return loop.succeeded()
    }

    private func read(_ waits: Bool) -> Future<[LogEntry]> {
        guard entries.isEmpty, waits else { return loop.succeeded(takeAll()) }
        let promise = loop.makePromise(of: [LogEntry].self)
        reader = promise
        return promise.future
    }

    private func takeAll() -> [LogEntry] {
        defer { entries = [] }
        return entries
    }
}
