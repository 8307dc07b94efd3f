internal import CSystem
internal import Futures
internal import Glibc

extension UVListener {
    /// Creates a listener that takes over a socket that listens already. Programs that this process starts do
    /// not inherit the socket. `what` is a name of the socket for error texts. `families` are the address
    /// families that the owner of the listener can serve.
    ///
    /// If this throws, the caller keeps the descriptor.
    static func adopting(
        _ descriptor: CInt, called what: String, families: [CInt], on loop: EventLoop
    ) throws -> UVListener {
        let driver = try loop.openDriver()
        func refusal(_ text: String) -> FutureError { .invalidArgument("\(what) \(text)") }

        guard let type = socketOption(SO_TYPE, of: descriptor) else {
            throw errno == ENOTSOCK
                ? refusal("is not a socket; give one that listens")
                : refusal("is not open; give one of a socket that listens")
        }
        guard type == CInt(SOCK_STREAM.rawValue) else {
            throw refusal("is a socket of messages, not of streams; give one of type SOCK_STREAM")
        }
        guard socketOption(SO_ACCEPTCONN, of: descriptor) == 1 else {
            throw refusal("is a socket that does not listen; call listen() on it before")
        }
        guard let address = try SocketAddress.local(of: descriptor, "adopt") else {
            throw refusal("is a socket of neither TCP nor the UNIX domain")
        }
        guard families.contains(address.family) else {
            let kind = address.family == AF_UNIX ? "the UNIX domain" : "TCP"
            throw refusal("is a socket of \(kind) (\(address)), which this server or listener does not take")
        }
        return try AdoptedDescriptors.take(descriptor, on: driver) {
            try UVListener(driver, adopting: $0, address)
        }
    }

    /// Closes the handle, but not the socket.
    func release() -> CInt? {
        guard !isClosing else { return nil }
        closeAdopted(descriptor) { close() }
        return descriptor
    }
}
