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
    package enum Progress: Sendable {
        case sent(Int)
        /// The socket takes no more after these bytes.
        case blocked(Int)
        /// The file has ended after these bytes.
        case ended(Int)
        /// The system cannot send this kind of file. Nothing has been sent.
        case unsupported
        case failed(Int, SystemError)
    }

    private let descriptor: SystemDescriptor
    package var number: CInt { descriptor.number }

    package init(_ descriptor: SystemDescriptor) { self.descriptor = descriptor }

    /// Sends `count` bytes of the file from `offset` on, or as many as the socket takes. Waits for the disk, but never
    /// for the peer.
    package func send(_ file: any FileHandle, at offset: Int, _ count: Int) -> Progress {
        guard let source = file.descriptor else { return .unsupported }
        var position = offset
        var sent: Int { position - offset }
        while sent < count {
            let status = unsafe sendfile(number, source, &position, count - sent)
            if status == 0 { return .ended(sent) }
            guard status < 0 else { continue }
            switch errno {
            case EINTR: continue
            case EAGAIN: return .blocked(sent)
            case EINVAL where sent == 0, ENOSYS where sent == 0: return .unsupported
            default: return .failed(sent, SystemError(-errno, "sendfile"))
            }
        }
        return .sent(sent)
    }

    package func close() { try? descriptor.close() }
}
