internal import CFuturesSystem
internal import Glibc

/// Sends a file over a socket without passing its bytes through this process.
package protocol FileSender: AnyObject {
    /// The socket, for use on the threads of the file pool.
    var socket: SendingSocket { get }
    /// Calls `body` once in a turn of the loop, when the socket takes more, or has broken. Called on the loop's thread.
    func whenWritable(_ body: @escaping () -> Void)
    /// Releases the descriptor. Called on the loop's thread, while no thread of the pool uses the socket.
    func close()
}

/// A copy of a socket's descriptor for `sendfile`. The copy stays valid even if the connection is closed meanwhile.
package final class SendingSocket: Sendable {
    /// The outcome of one call of `send`.
    package enum Outcome: Sendable {
        /// All bytes were sent.
        case complete
        /// The socket takes no more.
        case blocked
        /// The file has ended.
        case ended
        /// The system cannot send this kind of file. Nothing has been sent.
        case unsupported
        case failed(SystemError)
    }

    private let descriptor: SystemDescriptor
    package var number: CInt { descriptor.number }

    package init(_ descriptor: CInt) { self.descriptor = SystemDescriptor(descriptor) }

    /// Sends `count` bytes of the file from `offset` on, or as many as the socket takes. Waits for the disk, but never
    /// for the peer.
    package func send(
        _ file: any FileHandle, at offset: Int, _ count: Int
    ) -> (sent: Int, outcome: Outcome) {
        guard let source = file.descriptor else { return (0, .unsupported) }
        var position = offset
        var sent: Int { position - offset }
        while sent < count {
            let status = unsafe sendfile(number, source, &position, count - sent)
            if status == 0 { return (sent, .ended) }
            guard status < 0 else { continue }
            switch errno {
            case EINTR: continue
            case EAGAIN: return (sent, .blocked)
            case EINVAL where sent == 0, ENOSYS where sent == 0: return (0, .unsupported)
            default: return (sent, .failed(SystemError(-errno, "sendfile")))
            }
        }
        return (sent, .complete)
    }

    package func close() { try? descriptor.close() }
}
