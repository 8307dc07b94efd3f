import Foundation
import RESP
import UVFutures

/// The file of changes, from which everything is there again after a crash.
///
/// It is made of batches: a line with the length and the checksum of what follows, and changes as commands of the protocol.
/// A batch is what came while the batch before was written. So with ``Policy/always`` one `fdatasync` serves all clients
/// that wait.
final class AppendLog {
    /// When changes have to be on the disk.
    enum Policy: String, CaseIterable {
        /// Before they are answered.
        case always
        /// Within about a second.
        case everysec
        /// When the system likes.
        case no
    }

    /// The bytes of changes that may wait for the disk. Then the clients wait, too.
    private static let mostPending = 1_048_576

    let policy: Policy
    private let directory: Directory
    private let name: String
    private var file: File
    /// The lock by which no other server uses the file.
    private var lock: FileLock
    private unowned let service: KeyValueService
    /// The size of the file up to the last batch that was written well.
    private var size: Int
    /// The number of the last change, and of the last one that is as safe as the policy wants it.
    private(set) var change = 0
    private(set) var safe = 0
    private var pending: [UInt8] = []
    private let caughtUp: FutureCondition
    private var isWriting = false
    /// Why changes cannot be written, or `nil`.
    private(set) var failure: String?
    private var isDirty = false
    private var rewrite: Rewrite?
    private let rewriteSize: Int
    /// The size at which the file is written anew.
    private var nextRewrite: Int
    private(set) var rewriteCount = 0

    /// A file with what there is now, which is being written.
    private struct Rewrite {
        let file: File
        let lock: FileLock
        /// The number of entries that are still to come, the last one first: when one is removed, the last one takes its
        /// slot. Changes of these come with them, and changes of others are added.
        var missing: Int
        var size = 0
        var pending: [UInt8] = []
        /// The file takes the place of the old one. Nothing is written meanwhile.
        var isEnding = false
    }

    init(
        _ file: File, lock: FileLock, size: Int, in directory: Directory, _ name: String, _ policy: Policy,
        rewriteSize: Int,
        of service: KeyValueService
    ) {
        (self.file, self.size, self.directory, self.name) = (file, size, directory, name)
        self.lock = lock
        (self.policy, self.service, self.rewriteSize) = (policy, service, rewriteSize)
        caughtUp = FutureCondition(on: service.loop)
        nextRewrite = max(rewriteSize, 2 * size)
        if policy == .everysec { syncEverySecond() }
    }

    /// Whether an answer now would tell of something that may get lost.
    var holdsAnswers: Bool { policy == .always && safe < change && failure == nil }

    var information: [String] {
        [
            "aof_current_size:\(size)", "aof_pending_bytes:\(pending.count)", "aof_rewrites:\(rewriteCount)",
            "aof_rewrite_in_progress:\(rewrite == nil ? 0 : 1)",
            "aof_last_write_status:\(failure == nil ? "ok" : "err")",
        ]
    }

    // MARK: Changes

    /// Completes when not too much waits for the disk, or when it cannot be written. `nil` means now.
    var hasCaughtUp: Future<Void>? { isBehind ? caughtUp.wait() : nil }

    private var isBehind: Bool { memory > Self.mostPending && failure == nil }

    /// The bytes of changes that wait to be written.
    var memory: Int { pending.capacity + (rewrite?.pending.capacity ?? 0) }

    /// Adds a change of the entry in `slot`, or a removal if that is `nil`.
    func record(_ slot: Int?, _ body: (inout [UInt8]) -> Void) {
        change += 1
        let start = pending.count
        body(&pending)
        if let missing = rewrite?.missing, slot ?? .max >= missing { rewrite?.pending += pending[start...] }
        // The changes of one turn are one batch.
        if start == 0 { service.loop.later { [self] in write() } }
    }

    private func write() {
        guard !isWriting, !pending.isEmpty, rewrite?.isEnding != true else { return }
        isWriting = true
        let (batch, last) = (LogBatch.bytes(of: pending), change)
        pending = []
        var written = file.write(batch, at: size)
        if policy == .always { written = written.flatMap { [file] in file.sync(dataOnly: true) } }
        written.whenComplete { [self] result in
            isWriting = false
            switch result {
            case .success:
                size += batch.count
                isDirty = true
                becameSafe(last)
                write()
                startRewriteIfGrown()
                letGoOn()
            case .failure(let error):
                // They are written again at the same place.
                pending = LogBatch.changes(in: batch) + pending
                failed(error)
            }
        }
    }

    private func letGoOn() {
        if !isBehind { caughtUp.broadcast() }
    }

    private func becameSafe(_ last: Int) {
        safe = last
        failure = nil
        if policy == .always { service.logWasSynced(self) }
    }

    /// Refuses further changes until those that wait can be written.
    private func failed(_ error: any Error) {
        if failure == nil { complain("changes cannot be written", error) }
        failure = (error as? FileError)?.code.message ?? "\(error)"
        service.logFailed(self)
        letGoOn()
        service.loop.schedule(after: .seconds(1)) { [self] in write() }.future.ignoreFailure()
    }

    private func syncEverySecond() {
        service.loop.repeat(every: .seconds(1)) { [weak self] () throws -> Future<Void> in
            guard let self else { throw CancellationError() }
            guard isDirty, !isWriting, failure == nil else { return service.loop.succeeded() }
            isDirty = false
            return file.sync(dataOnly: true).recover { [weak self] error in self?.failed(error) }
        }
        .future.ignoreFailure()
    }

    // MARK: Writing it anew

    private func startRewriteIfGrown() {
        guard size >= nextRewrite, rewrite == nil else { return }
        nextRewrite = 2 * size
        Future<Void>(on: service.loop) { try await self.writeAnew() }.whenFailure { [self] error in
            rewrite = nil
            complain("the file cannot be written anew", error)
            write()
            letGoOn()
        }
    }

    nonisolated(nonsending) private func writeAnew() async throws {
        let file = try await directory.open(
            temporaryName, .readWrite, creating: .ifMissing, truncating: true
        ).value
        guard let lock = try await file.tryLock(.exclusive).value else { throw LogError.inUse(temporaryName) }
        rewrite = Rewrite(file: file, lock: lock, missing: service.store.count)
        while rewrite!.missing > 0 || rewrite!.pending.count > 65_536 {
            addEntries(limit: 262_144)
            try await writeRest()
        }
        rewrite!.isEnding = true
        while isWriting { try await service.loop.sleep(for: .milliseconds(1)).value }
        let last = change
        try await writeRest()
        try await file.sync().value
        try await directory.rename(temporaryName, to: name).value
        try await directory.sync().value
        (self.file, self.lock) = (file, lock)
        (size, pending) = (rewrite!.size, rewrite!.pending)
        nextRewrite = max(rewriteSize, 2 * size)
        rewrite = nil
        rewriteCount += 1
        becameSafe(last)
        write()
        letGoOn()
    }

    private var temporaryName: String { name + ".rewrite" }

    private func addEntries(limit: Int) {
        let store = service.store
        rewrite!.missing = min(rewrite!.missing, store.count)
        while rewrite!.missing > 0, rewrite!.pending.count < limit {
            rewrite!.missing -= 1
            let slot = rewrite!.missing
            if store.isPresent(slot) { store.appendSet(slot, to: &rewrite!.pending) }
        }
    }

    nonisolated(nonsending) private func writeRest() async throws {
        guard !rewrite!.pending.isEmpty else { return }
        let batch = LogBatch.bytes(of: rewrite!.pending)
        rewrite!.pending = []
        let (file, offset) = (rewrite!.file, rewrite!.size)
        rewrite!.size += batch.count
        try await file.write(batch, at: offset).value
        letGoOn()
    }

    // MARK: The end

    /// Completes when all changes are on the disk. Nobody may make changes any more.
    func close() -> Future<Void> {
        guard pending.isEmpty, !isWriting, rewrite == nil else {
            guard failure == nil else { return service.loop.failed(LogError.lost(failure!)) }
            return service.loop.sleep(for: .milliseconds(1)).flatMap { [self] in close() }
        }
        return file.sync().flatMap { [file] in file.close() }
    }

    private func complain(_ text: String, _ error: any Error) {
        // At the end of the loop, nothing can be written any more.
        if case FutureError.shutDown = error { return }
        FileHandle.standardError.write(Data("\(name): \(text): \(error)\n".utf8))
    }
}
