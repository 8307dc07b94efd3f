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
/// Rotations that follow each other faster than your code reads lose nothing: from the first read on, the stream opens each
/// file that takes the name, and looks in the directory for those that have had it, such as `app.log.1` or
/// `app.log-20261127`. What cannot be read any more is told: ``onLoss(_:)``.
///
/// ``position`` is the place behind what your code has read. A program that stores it can go on there after a restart.
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

    /// The place behind the last byte that your code has read: behind the line, in the body of a loop over ``ByteStreams/ByteStream/lines(limit:)``.
    /// `nil` if there has been no file yet.
    public var position: Position? {
        core.checkThread()
        return carrier.position(after: takenBytes)
    }

    /// Calls `handler` when something turns out to be lost, and at once for what was lost before. Another call of this function
    /// replaces `handler`, and `nil` stops the calls.
    ///
    /// A loss is also a warning to the observer of the loop, once a minute at most.
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
        /// Where another stream has stopped, in a file that may have been rotated since. If it is not in the directory any
        /// more, that is a ``FollowStream/Loss``, and the stream begins with the oldest file that has had the name.
        case position(FollowStream.Position)
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
        do {
            try limits.validate()
            if case .position(let place) = start {
                try requireArgument(
                    place.offset >= 0,
                    "a follow was to begin at \(place); give a position that a stream has had")
            }
        } catch {
            return core.failed(error)
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
