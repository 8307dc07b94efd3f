internal import ByteStreams
internal import FoundationEssentials
internal import Futures

/// The transport of a stream over a followed file.
final class FollowTransport: ByteTransport {
    /// The pause before a file that has lost its name is checked again, and the maximum number of such checks.
    private static let pause: Duration = .milliseconds(100)
    private static let patience = 600
    /// The maximum number of losses that are kept until a handler is set.
    private static let mostUntold = 100

    /// A run of bytes of the stream: its first byte, and the place in a file where it begins.
    private struct Segment {
        let first: Int
        let start: FollowStream.Position
        let isOfFile: Bool

        func place(of byte: Int) -> FollowStream.Position {
            var place = start
            if isOfFile { place.offset += byte - first }
            return place
        }
    }

    weak var stream: ByteStream?
    let unwrittenBytes = 0
    var path: String { name.path }
    private let name: FileName
    private let watch: FileWatch
    private let system: any FileSystem
    private var files: FollowedFiles
    private var isReading = false
    private var isLooking = false
    /// Whether the file or its name has changed since the last look.
    private var hasChanged = false
    /// The parts that have been read but not delivered.
    private var fetched: [FollowedFile.Part] = []
    /// The wait for a change, or for the next check of a file that has lost its name. From the first read on, it exists
    /// whenever no look is running.
    private var waiting: Future<Bool>?
    private var looksWithoutName = 0
    private var segments: [Segment] = []
    /// The number of bytes delivered to the stream.
    private var delivered = 0
    private var lossHandler: ((FollowStream.Loss) -> Void)?
    private var untold: [FollowStream.Loss] = []
    private var reports = ReportLimit()
    /// The number of files created with the name before the first one was opened, and the number reported as lost.
    private let firstArrivals: Int
    private var lostArrivals = 0
    /// Completes when the stream closes the transport, or when the loop is shut down.
    private let life: Promise<Void>

    init(_ name: FileName, _ watch: FileWatch, _ files: FollowedFiles, _ system: any FileSystem) {
        (self.name, self.watch, self.files, self.system) = (name, watch, files, system)
        life = watch.core.makePromise()
        firstArrivals = watch.arrivals
        if let start = files.position { segments = [Segment(first: 0, start: start, isOfFile: true)] }
        tell(files.losses)
        life.future.whenComplete { [self] _ in end() }
    }

    private var loop: LoopCore { watch.core }

    func startReading() {
        isReading = true
        loop.later { [self] in deliver() }
    }

    func stopReading() { isReading = false }

    private func deliver() {
        guard isReading else { return }
        let parts = exchange(&fetched, with: [])
        guard !parts.isEmpty else { return look() }
        for part in parts { note(part) }
        // Looks for more while the stream processes these parts.
        defer { look() }
        stream?.transportDidRead(parts.count == 1 ? parts[0].bytes : parts.reduce(Data()) { $0 + $1.bytes })
    }

    /// Looks for more bytes if none wait to be delivered, and for files that have taken the name.
    private func look() {
        guard life.future.result == nil, !isLooking else { return }
        let reads = isReading && fetched.isEmpty
        guard reads || hasChanged else { return wait() }
        waiting.take()?.cancel(.evenIfOthersWaiting)
        isLooking = true
        let arrivals = watch.arrivals - firstArrivals
        let (name, system, before, hasChanged) = (name, system, files, exchange(&hasChanged, with: false))
        RemoteContext.files.execute(on: loop) {
            var files = before
            let parts = try name.describing("follow") {
                try files.look(at: name.path, reads: reads, hasChanged: hasChanged, in: system)
            }
            return (files, parts)
        }
        .whenComplete { [self] result in
            isLooking = false
            guard life.future.result == nil else { return }
            switch result {
            case .success((let files, let parts)): hasFound(files, parts, arrivals, hasRead: reads)
            case .failure(let error): stream?.transportDidFail(error)
            }
        }
    }

    private func hasFound(
        _ files: FollowedFiles, _ parts: [FollowedFile.Part], _ arrivals: Int, hasRead: Bool
    ) {
        let last = exchange(&self.files, with: files).lastPosition
        fetched += parts
        tell(files.losses)
        // Files that were created and removed between two looks.
        let lost = arrivals - files.found - lostArrivals
        if lost > 0, files.isComplete, let last {
            lostArrivals += lost
            // The first file may have been opened before the system reported its creation.
            if files.found > 0 { tell([.files(atLeast: lost, after: last)]) }
        }
        looksWithoutName = files.hasLostName && parts.isEmpty ? looksWithoutName + 1 : 0
        // The stream may have begun to read while the look was under way.
        if !isReading || fetched.isEmpty && hasRead { wait() } else { deliver() }
    }

    private func wait() {
        guard waiting == nil, !isLooking else { return }
        var change = watch.next().map { _ in true }
        if isReading, (1...Self.patience).contains(looksWithoutName) {
            change = Future.race([change, loop.sleep(for: Self.pause).map { false }])
        }
        waiting = change
        change.whenComplete { [self] result in
            switch result {
            case .success(let isChange):
                waiting = nil
                hasChanged = hasChanged || isChange
                look()
            case .failure(let error):
                if !(error is CancellationError) { stream?.transportDidFail(error) }
            }
        }
    }

    // MARK: Places and losses

    private func note(_ part: FollowedFile.Part) {
        // Drops the segments that have been read.
        _ = position(after: stream?.takenBytes ?? delivered)
        let goesOn = segments.last.map { $0.isOfFile && $0.place(of: delivered) == part.start } ?? false
        if !goesOn || !part.isOfFile {
            segments.append(Segment(first: delivered, start: part.start, isOfFile: part.isOfFile))
        }
        delivered += part.bytes.count
    }

    /// The place after the first `count` bytes of the stream.
    func position(after count: Int) -> FollowStream.Position? {
        while segments.count > 1, segments[1].first <= count { segments.removeFirst() }
        return segments.first?.place(of: count)
    }

    func onLoss(_ handler: ((FollowStream.Loss) -> Void)?) {
        guard life.future.result == nil else { return }
        let former = exchange(&lossHandler, with: handler)
        loop.later { [self] in tell([]) }
        withExtendedLifetime(former) {}
    }

    private func tell(_ losses: [FollowStream.Loss]) {
        if let loss = losses.first, loop.isObserved, reports.admits(at: loop.clock) {
            loop.tell(.warning("the file \(path) is followed: \(loss)"))
        }
        untold = (untold + losses).suffix(Self.mostUntold)
        guard let lossHandler else { return }
        for loss in exchange(&untold, with: []) { lossHandler(loss) }
    }

    // MARK: The end

    private func end() {
        (fetched, untold) = ([], [])
        watch.close()
        withExtendedLifetime(lossHandler.take()) {}
        stream?.transportDidClose()
    }

    func close(resetting: Bool) { life.succeed() }

    // MARK: Nothing is written

    func tryWrite(_ bytes: RawSpan) -> Int { 0 }
    func tryWrite(_ buffers: [Data]) -> Int { 0 }
    func write(_ buffers: [Data]) {}
    func shutdownWrite() {}
}
