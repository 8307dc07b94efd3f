import Foundation
import RESP
import UVFutures

/// Why a log cannot be used.
enum LogError: Error, CustomStringConvertible {
    case inUse(String)
    case damaged(String, offset: Int)
    case lost(String)

    var description: String {
        switch self {
        case .inUse(let path): "\(path) is used by another server; stop that one, or give another file"
        case .damaged(let path, let offset):
            "\(path) is damaged at offset \(offset), and changes follow there; restore it from a copy, or give them up by: "
                + "truncate -s \(offset) \(path)"
        case .lost(let reason): "the last changes could not be written: \(reason)"
        }
    }
}

extension KeyValueService {
    /// Loads the log at `path`, which is made if there is none, and keeps all changes in it from now on.
    ///
    /// Completes with what there is to say about it. A last batch that a crash has cut off is removed: nobody was told that
    /// it was safe.
    func openLog(at path: String, _ policy: AppendLog.Policy, rewriteSize: Int) -> Future<String> {
        Future(on: loop) { [self] in
            let url = URL(fileURLWithPath: path)
            let directory = try await Directory.open(url.deletingLastPathComponent().path, on: loop).value
            let name = url.lastPathComponent
            let file = try await directory.open(name, .readWrite, creating: .ifMissing).value
            guard let lock = try await file.tryLock(.exclusive).value else { throw LogError.inUse(path) }
            try await directory.sync().value
            let size = try await file.information().value.size
            let loaded = try await load(file)
            if loaded < size {
                if try await isFollowed(loaded, in: file) { throw LogError.damaged(path, offset: loaded) }
                try await file.truncate(to: loaded).value
                try await file.sync().value
            }
            log = AppendLog(
                file, lock: lock, size: loaded, in: directory, name, policy, rewriteSize: rewriteSize,
                of: self)
            startExpiring()
            let cut = size - loaded
            return "loaded \(store.count) keys from \(path)"
                + (cut > 0 ? "; its last \(cut) bytes were not complete, and have been cut off" : "")
        }
    }

    /// Performs the changes in the file, up to the first batch that is not as it was written. Completes with the size of
    /// those before.
    nonisolated(nonsending) private func load(_ file: File) async throws -> Int {
        var limits = StreamLimits()
        limits.framingTimeout = nil
        var size = 0
        do {
            try await file.stream(limits: limits).forEachMessage(decodedBy: LogBatchDecoder()) {
                frame, bytes in
                try self.replay(bytes.extracting(frame.changes), checksum: frame.checksum)
                size += bytes.byteCount
            }.value
        } catch is LogBatchDecoder.NoBatch {
        } catch StreamError.unexpectedEnd {
        }
        return size
    }

    private func replay(_ changes: RawSpan, checksum: UInt32) throws {
        guard LogBatch.checksum(changes) == checksum else { throw LogBatchDecoder.NoBatch() }
        var (decoder, start) = (RESPCommandDecoder(), 0)
        while start < changes.byteCount {
            let rest = changes.extracting(droppingFirst: start)
            guard let change = try decoder.decode(rest, isAtEnd: true), change.frame.line == nil,
                let name = change.frame.words.first,
                let command = Command.all[CommandName(rest.extracting(name))]
            else { throw LogBatchDecoder.NoBatch() }
            var answer: [UInt8] = []
            try command.run(self, nil, change.frame.words, rest, &answer)
            start += change.byteCount
        }
    }

    /// Whether a whole batch stands somewhere behind `offset`. Then what is there was not cut off by a crash.
    nonisolated(nonsending) private func isFollowed(_ offset: Int, in file: File) async throws -> Bool {
        let rest = try await file.read(atMost: 67_108_864, at: offset).value
        var start = rest.startIndex
        while let mark = rest[start...].firstRange(of: LogBatch.mark) {
            start = mark.lowerBound + 1
            guard mark.lowerBound > rest.startIndex else { continue }
            let bytes = Array(rest[mark.lowerBound...])
            var decoder = LogBatchDecoder()
            guard let batch = try? decoder.decode(bytes.span.bytes, isAtEnd: true) else { continue }
            let changes = bytes.span.bytes.extracting(batch.frame.changes)
            if LogBatch.checksum(changes) == batch.frame.checksum { return true }
        }
        return false
    }
}
