public import ByteStreams
internal import FoundationEssentials
public import Futures

/// A stream of what is appended to a file, as `tail -F` shows it. ``File/follow(_:from:limits:on:)`` makes it.
///
/// The stream has no end: it waits for more until it is closed. It reads only as fast as your code does, and a little ahead.
/// From the first read on, it keeps ``Futures/EventLoop/run()`` from returning.
///
/// Logs are rotated. When the file is renamed and another one takes its name, the stream reads the old file to its end, until
/// the new one has contents, and then goes on with the new one. If the old file ends within a line, a line feed is put
/// between. When the file is emptied, the stream goes on from its beginning. When there is no file, the stream waits for one.
///
/// What nobody can read is lost: bytes that are written to the old file after the new one has contents, a file that is
/// replaced twice before your code has read so far, and bytes that are cut off before they were read.
public final class FollowStream: ByteStream {
    /// The path of the file.
    public let path: String

    fileprivate init(_ carrier: FollowTransport, _ limits: SharedLimits, on loop: LoopCore) {
        path = carrier.path
        super.init(loop: loop, transport: carrier, limits: limits, sides: .read)
        carrier.stream = self
    }
}

extension FollowStream: CustomStringConvertible {
    /// The stream in one line, such as `followed file /var/log/app.log`.
    public var description: String { "followed file \(path)" }
}

extension StreamLimits {
    /// The limits of a stream that waits for lines of a file as long as it takes.
    public static var following: StreamLimits {
        var limits = StreamLimits()
        limits.framingTimeout = nil
        return limits
    }
}

extension File {
    /// Where ``File/follow(_:from:limits:on:)`` begins.
    public enum FollowStart: Hashable, Sendable {
        /// With what the file has already.
        case beginning
        /// With what is appended from now on. If there is no file yet, with all of it.
        case end
    }

    /// Follows the file at `path`: completes with a stream of what is appended, across rotations. There may be no such file
    /// yet, but its directory has to be there.
    ///
    /// Fails with the errors of ``FileWatch/watch(file:debounce:limits:on:)``, and with ``FileError`` if the file may not be
    /// read or is not a regular one. The same errors break the stream later.
    ///
    /// ```swift
    /// let log = try await File.follow("/var/log/app.log", on: loop).value
    /// for try await line in log.lines() { print(line.count) }
    /// ```
    public static func follow(
        _ path: String, from start: FollowStart = .end, limits: StreamLimits = .following, on loop: EventLoop
    ) -> Future<FollowStream> {
        let core = loop.core
        core.checkThread()
        do { try limits.validate() } catch { return core.failed(error) }
        return FileWatch.watch(file: path, debounce: .zero, on: loop).flatMap { [unowned core] watch in
            let files = core.system.fileSystem
            let name = FileName(path: path, directory: "the root")
            return RemoteContext.files.execute(on: core) {
                try name.describing("follow") { try FollowedFile.open(path, atEnd: start == .end, in: files) }
            }
            .map { [unowned core] file in
                let transport = FollowTransport(name, watch, file, files)
                return FollowStream(transport, .of(limits, on: core), on: core)
            }
        }
    }
}

/// The transport of a stream over a followed file.
private final class FollowTransport: ByteTransport {
    /// The time after which a file that has lost its name is looked at again, and how often.
    private static let pause: Duration = .milliseconds(100)
    private static let patience = 600

    weak var stream: ByteStream?
    let unwrittenBytes = 0
    var path: String { name.path }
    private let name: FileName
    private let watch: FileWatch
    private let files: any FileSystem
    private var file: FollowedFile?
    private var isReading = false
    private var isLooking = false
    /// What has been read and not been delivered.
    private var fetched = Data()
    /// The wait for a change, or for the next look at a file that has lost its name.
    private var waiting: Future<Void>?
    private var looksWithoutName = 0
    /// Completes when the stream closes the transport, or when the loop is shut down.
    private let life: Promise<Void>

    init(_ name: FileName, _ watch: FileWatch, _ file: FollowedFile?, _ files: any FileSystem) {
        (self.name, self.watch, self.file, self.files) = (name, watch, file, files)
        life = watch.core.makePromise()
        life.future.whenComplete { [self] _ in
            isReading = false
            (fetched, self.file) = (Data(), nil)
            waiting.take()?.cancel(.evenIfOthersWaiting)
            watch.close()
            stream?.transportDidClose()
        }
    }

    private var loop: LoopCore { watch.core }

    func startReading() {
        isReading = true
        loop.later { [self] in deliver() }
    }

    func stopReading() {
        isReading = false
        waiting.take()?.cancel(.evenIfOthersWaiting)
    }

    private func deliver() {
        guard isReading else { return }
        guard fetched.isEmpty else {
            let bytes = fetched
            fetched = Data()
            look()
            return stream?.transportDidRead(bytes) ?? ()
        }
        look()
    }

    /// Looks for more bytes, if none wait to be delivered.
    private func look() {
        guard isReading, !isLooking, fetched.isEmpty, waiting == nil else { return }
        isLooking = true
        let (name, files, file) = (name, files, file)
        RemoteContext.files.execute(on: loop) {
            try name.describing("follow") { try FollowedFile.look(at: name.path, after: file, in: files) }
        }
        .whenComplete { [self] result in
            isLooking = false
            guard life.future.result == nil else { return }
            switch result {
            case .success(let look): hasFound(look)
            case .failure(let error): stream?.transportDidFail(error)
            }
        }
    }

    private func hasFound(_ look: FollowedFile.Look) {
        file = look.file
        fetched = look.bytes
        looksWithoutName = look.hasLostName && look.bytes.isEmpty ? looksWithoutName + 1 : 0
        if fetched.isEmpty { wait() } else { deliver() }
    }

    private func wait() {
        guard isReading else { return }
        var change = watch.next().asVoid()
        if (1...Self.patience).contains(looksWithoutName) {
            change = Future.race([change, loop.sleep(for: Self.pause)])
        }
        waiting = change
        change.whenComplete { [self] result in
            switch result {
            case .success:
                waiting = nil
                look()
            case .failure(let error):
                if !(error is CancellationError) { stream?.transportDidFail(error) }
            }
        }
    }

    // MARK: Nothing is written

    func tryWrite(_ bytes: RawSpan) -> Int { 0 }
    func tryWrite(_ buffers: [Data]) -> Int { 0 }
    func write(_ buffers: [Data]) {}
    func shutdownWrite() { loop.later { [self] in stream?.transportDidShutdown(failure: nil) } }

    func close(resetting: Bool) { life.succeed() }
}
