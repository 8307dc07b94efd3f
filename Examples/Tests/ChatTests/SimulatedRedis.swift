import FoundationEssentials
import FuturesTesting
import RESP
import UVFutures

@testable import Chat

/// What a server of streams has on its disk. It is still there after a crash.
final class StreamDisk {
    fileprivate(set) var streams: [String: [(id: EntryID, fields: [[UInt8]])]] = [:]

    /// The messages in the order of the log, each once.
    var messages: [(id: EntryID, line: String)] {
        var last: [String: Int] = [:]
        return (streams["chat:messages"] ?? []).compactMap { id, fields in
            let texts = fields.map { String(decoding: $0, as: UTF8.self) }
            let (sender, number) = (texts[3], Int(texts[5])!)
            guard number > last[sender] ?? 0 else { return nil }
            last[sender] = number
            return (id, "\(texts[7]): \(texts[9])")
        }
    }
}

/// The part of Redis that a chat uses: PING, XADD, and XREAD that waits. An entry is on the disk before it is answered, and
/// before it is read.
final class SimulatedRedis {
    private let disk: StreamDisk
    private let loop: EventLoop
    private var readers: [Promise<Void>] = []

    init(_ disk: StreamDisk, on loop: EventLoop) { (self.disk, self.loop) = (disk, loop) }

    func listen() throws {
        let server = try TCPServer.listen(host: "0.0.0.0", port: 6379, on: loop) { [self] connection in
            connection.forEachMessage(decodedBy: RESPCommandDecoder()) { [self] command, bytes in
                answer(command.words.map { bytes.array($0) }).flatMap { connection.write($0) }
            }
        }
        server.onConnectionError = { _ in }
    }

    private func answer(_ words: [[UInt8]]) -> Future<[UInt8]> {
        let texts = words.map { String(decoding: $0, as: UTF8.self) }
        var answer: [UInt8] = []
        switch texts[0] {
        case "PING": answer.appendStatus("PONG")
        case "XADD": return add(texts[1], Array(words[6...]))
        case "XREAD": return read(texts)
        default: answer.appendError("ERR unknown command")
        }
        return loop.succeeded(answer)
    }

    /// Adds an entry, and answers somewhat later. A crash in between loses the answer.
    private func add(_ stream: String, _ fields: [[UInt8]]) -> Future<[UInt8]> {
        let last = disk.streams[stream]?.last?.id ?? .start
        let milliseconds = UInt64(max(0, loop.date.timeIntervalSince1970 * 1000))
        let id =
            milliseconds > last.milliseconds
            ? EntryID(milliseconds, 0) : EntryID(last.milliseconds, last.number + 1)
        disk.streams[stream, default: []].append((id, fields))
        return loop.sleep(for: .milliseconds(Int.random(in: 0...20, using: &loop.random))).map { [self] in
            for reader in readers { reader.succeed() }
            readers = []
            var answer: [UInt8] = []
            answer.appendBulk("\(id)")
            return answer
        }
    }

    private func read(_ texts: [String]) -> Future<[UInt8]> {
        let first = texts.firstIndex(of: "STREAMS")! + 1
        let count = (texts.count - first) / 2
        let streams = (0..<count).map { index in
            (texts[first + index], EntryID(texts[first + count + index])!)
        }
        let found = entries(behind: streams)
        guard found.isEmpty, let block = texts.firstIndex(of: "BLOCK") else {
            return loop.succeeded(write(found))
        }
        let promise = loop.makePromise(of: Void.self)
        readers.append(promise)
        return promise.future.timeout(after: .milliseconds(Int(texts[block + 1])!)).recover { _ in }
            .map { [self] in write(entries(behind: streams)) }
    }

    private typealias Found = [(name: String, entries: ArraySlice<(id: EntryID, fields: [[UInt8]])>)]

    private func entries(behind streams: [(String, EntryID)]) -> Found {
        streams.compactMap { name, id in
            let all = disk.streams[name] ?? []
            let entries = all[(all.lastIndex { $0.id <= id }.map { $0 + 1 } ?? 0)...]
            return entries.isEmpty ? nil : (name, entries.prefix(100))
        }
    }

    private func write(_ found: Found) -> [UInt8] {
        guard !found.isEmpty else { return Array("*-1\r\n".utf8) }
        var answer: [UInt8] = []
        answer.appendArray(count: found.count)
        for (name, entries) in found {
            answer.appendArray(count: 2)
            answer.appendBulk(name)
            answer.appendArray(count: entries.count)
            for (id, fields) in entries {
                answer.appendArray(count: 2)
                answer.appendBulk("\(id)")
                answer.appendArray(count: fields.count)
                for field in fields { answer.appendBulk(field.span.bytes) }
            }
        }
        return answer
    }
}
