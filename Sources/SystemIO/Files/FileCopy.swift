public import ByteStreams
public import Futures

extension File {
    /// Sends `count` bytes of the file from `position` on, or all up to its end, to the peer of `stream`. Completes
    /// with the number of bytes when the system has accepted them.
    ///
    /// Earlier writes are sent first, and later ones wait for the copy. On a socket connection, the bytes do not pass
    /// through this process (`sendfile`). For other streams, they are read and written in blocks of 256 KiB. In both
    /// cases, the file is read at the pace of the peer, and a slow disk delays only this stream.
    ///
    /// Completes with fewer bytes than `count` if the file ends earlier. Fails with ``FileError`` if the file cannot be
    /// read: the stream stays open, and ``FileError/bytesWritten`` bytes have been sent. Fails with the error that
    /// breaks the connection, and as ``ByteStreams/ByteStream/write(_:)-(Data)`` does. Cancelling ends the copy after
    /// the bytes in transit. After a failure or a cancellation, abort the connection, unless its protocol tells the
    /// peer that bytes are missing. Traps if `stream` belongs to another loop.
    ///
    /// ```swift
    /// let sent = file.copy(to: connection, from: 1024)
    /// ```
    public func copy(to stream: ByteStream, from position: Int = 0, count: Int? = nil) -> Future<Int> {
        let loop = operations.loop
        guard stream.core === loop else {
            trap(
                "copy(to:) was given a stream of another event loop. Open the file on the loop of the stream."
            )
        }
        return loop.attempt {
            try checkOffset(position)
            try checkOffset(count ?? 0)
            let copy = FileCopy(try operations.borrow(), operations.name, loop, from: position, count)
            return stream.write(copy).mapResult { result in
                copy.end()
                try result.get()
                return copy.copied
            }
        }
    }
}

/// The copy of a file to a stream, portion by portion.
private final class FileCopy: OutboundSource {
    /// Small, so that a copy occupies a thread of the pool only briefly.
    private static let sentPortion = 4 << 20
    private static let readPortion = 256 << 10

    private let lease: Lease<any FileHandle>
    private let name: FileName
    private let loop: LoopCore
    private weak var stream: ByteStream?
    private var position: Int
    /// The number of bytes that are left to copy.
    private var left: Int
    private(set) var copied = 0
    private var sender: (any FileSender)?
    private var part = 0
    private var isStopped = false
    /// Whether a thread of the pool works for this copy.
    private var isBusy = false
    /// Whether the copy waits until the socket takes more.
    private var isWaiting = false

    init(
        _ lease: Lease<any FileHandle>, _ name: FileName, _ loop: LoopCore, from position: Int, _ count: Int?
    ) {
        self.lease = lease
        self.name = name
        self.loop = loop
        self.position = position
        left = count ?? .max
    }

    func begin(on stream: ByteStream) {
        self.stream = stream
        loop.later { [self] in
            do throws(SystemError) {
                sender = try (stream as? SocketConnection)?.socket.makeFileSender()
                proceed()
            } catch {
                finish(FileError("copy", name, error.code, error.operation))
            }
        }
    }

    func partWasSent() {
        note(part)
        proceed()
    }

    func stop() {
        isStopped = true
        if isWaiting { loop.later { [self] in goOn() } }
    }

    /// Called when the future of the copy has completed.
    func end() {
        isStopped = true
        if !isBusy { sender.take()?.close() }
    }

    private func proceed() {
        guard let stream, stream.isSending(self) else { return end() }
        guard !isStopped, left > 0 else { return finish() }
        isBusy = true
        if let sender { send(to: sender, stream) } else { readPart() }
    }

    private func note(_ count: Int) {
        position += count
        left -= count
        copied += count
    }

    private func finish(_ error: (any Error)? = nil) {
        sender.take()?.close()
        stream?.sourceEnded(failure: error)
    }

    // MARK: Past this process

    private func send(to sender: any FileSender, _ stream: ByteStream) {
        let (lease, socket, position) = (lease, sender.socket, position)
        let count = min(left, Self.sentPortion)
        loop.runOnDisk("copy", name) { socket.send(lease.handle, at: position, count) }
            .whenComplete { [self] result in
                isBusy = false
                guard stream.isSending(self) else { return end() }
                switch result {
                case .success(let (count, outcome)): sent(count, outcome, sender, stream)
                case .failure(let error): finish(error)
                }
            }
    }

    private func sent(
        _ count: Int, _ outcome: SendingSocket.Outcome, _ sender: any FileSender, _ stream: ByteStream
    ) {
        note(count)
        if count > 0 { stream.noteSentBySource(count) }
        switch outcome {
        case .complete: proceed()
        case .ended: finish()
        case .blocked:
            guard !isStopped else { return finish() }
            isWaiting = true
            stream.noteSourceWaits(true)
            sender.whenWritable { [self] in goOn() }
        case .unsupported:
            sender.close()
            self.sender = nil
            proceed()
        case .failed(let error):
            guard error.meansConnectionLost else {
                return finish(FileError("copy", name, error.code, error.operation, written: copied))
            }
            self.sender.take()?.close()
            let ends = stream as? SocketConnection
            stream.sourceFailed(
                SystemError(error.code, "write", local: ends?.localAddress, peer: ends?.peerAddress))
        }
    }

    /// Continues when the socket takes more, or when the copy has been cancelled.
    private func goOn() {
        guard isWaiting else { return }
        isWaiting = false
        stream?.noteSourceWaits(false)
        proceed()
    }

    // MARK: By reading and writing

    private func readPart() {
        let (lease, position) = (lease, position)
        let count = min(left, Self.readPortion)
        loop.runOnDisk("copy", name) { try lease.handle.read(count, at: position) }
            .whenComplete { [self] result in
                isBusy = false
                guard let stream, stream.isSending(self) else { return }
                switch result {
                case .success(let bytes) where bytes.isEmpty || isStopped: finish()
                case .success(let bytes):
                    part = bytes.count
                    stream.send(part: bytes)
                case .failure(let error as FileError):
                    finish(FileError("copy", name, error.code, error.systemCall, written: copied))
                case .failure(let error): finish(error)
                }
            }
    }
}

extension SystemError {
    /// Whether the connection is at fault, not the file.
    fileprivate var meansConnectionLost: Bool {
        switch code {
        case .brokenPipe, .connectionReset, .notConnected, .timedOut, .hostUnreachable, .networkUnreachable:
            true
        default: false
        }
    }
}
