public import ByteStreams
public import Futures

/// Streams what is appended to a file, like `tail -F`. ``File/follow(_:from:limits:on:)`` creates it.
///
/// The stream has no end: it waits for more bytes until it is closed. It reads at the pace of your code, and a little
/// ahead. From the first read on, it keeps ``Futures/EventLoop/run()`` from returning.
///
/// The stream follows log rotation. When the file is renamed and another one takes its name, the stream keeps reading
/// the old file to its end until the new one has contents. Then it continues with the new one. If the old file ends in
/// the middle of a line, a line feed is inserted. When the file is emptied, the stream continues from its beginning.
/// When the file does not exist, the stream waits for one.
///
/// Rotations faster than your code reads lose nothing: from the first read on, the stream opens each file that takes
/// the name, and searches the directory for files that had it, such as `app.log.1` or `app.log-20261127`.
/// ``onLoss(_:)`` reports what can no longer be read.
///
/// ``position`` is the place after the last byte that your code has read. A program that stores it can resume there
/// after a restart.
public final class FollowStream: ByteStream {
    /// The path of the file.
    public let path: String
    private let carrier: FollowTransport

    fileprivate init(_ carrier: FollowTransport, _ limits: SharedLimits, on loop: LoopCore) {
        path = carrier.path
        self.carrier = carrier
        super.init(loop: loop, transport: carrier, limits: limits, sides: .read)
        carrier.stream = self
    }

    /// The place after the last byte that your code has read. In the body of a loop over
    /// ``ByteStreams/ByteStream/lines(limit:)``, it is the end of the line. `nil` if no file has existed yet.
    public var position: Position? {
        core.checkThread()
        return carrier.position(after: takenBytes)
    }

    /// Calls `handler` when something turns out to be lost, and at once for earlier losses. Another call replaces
    /// `handler`, and `nil` removes it.
    ///
    /// The observer of the loop also gets a warning of a loss, at most once a minute.
    public func onLoss(_ handler: ((Loss) -> Void)?) {
        core.checkThread()
        carrier.onLoss(handler)
    }
}

extension FollowStream: CustomStringConvertible {
    /// The stream in one line, such as `followed file /var/log/app.log`.
    public var description: String { "followed file \(path)" }
}

extension StreamLimits {
    /// The default limits without a `framingTimeout`: the rest of a line may take any time to arrive.
    public static var following: StreamLimits {
        var limits = StreamLimits()
        limits.framingTimeout = nil
        return limits
    }
}

extension File {
    /// The place where ``File/follow(_:from:limits:on:)`` begins.
    public enum FollowStart: Hashable, Sendable {
        /// The beginning of the file.
        case beginning
        /// The end of the file: only what is appended from now on. A file that does not exist yet is read from its
        /// beginning.
        case end
        /// The place where another stream stopped, in a file that may have been rotated since. If that file is no
        /// longer in the directory, this is a ``FollowStream/Loss``, and the stream begins with the oldest file that
        /// had the name.
        case position(FollowStream.Position)
    }

    /// Follows the file at `path` across rotations. Completes with a stream of what is appended. The file need not
    /// exist yet, but its directory must.
    ///
    /// Fails with the errors of ``FileWatch/watch(file:debounce:limits:on:)``, and with ``FileError`` if the file may
    /// not be read or is not a regular file. The same errors break the stream later.
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
        return core.attempt {
            try limits.validate()
            if case .position(let place) = start {
                try requireArgument(
                    place.offset >= 0,
                    "following cannot begin at \(place); give a position from FollowStream.position")
            }
            return FileWatch.watch(file: path, debounce: .zero, on: loop).flatMap { [unowned core] watch in
                let files = core.system.fileSystem
                let name = FileName(path: path, directory: "the root")
                return RemoteContext.files.execute(on: core) {
                    try name.describing("follow") { try FollowedFiles(path, from: start, in: files) }
                }
                .map { [unowned core] followed in
                    let transport = FollowTransport(name, watch, followed, files)
                    return FollowStream(transport, .of(limits, on: core), on: core)
                }
            }
        }
    }
}
