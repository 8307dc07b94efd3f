internal import CLibUV
internal import Futures
internal import Glibc

extension UVListener {
    /// Takes over a socket that somebody else has made listen, and that other programs started from here shall not
    /// inherit. `what` is what to call it, and `families` are the kinds of sockets that the owner can serve.
    ///
    /// If it throws, the descriptor is the caller's still.
    static func adopting(
        _ descriptor: CInt, called what: String, families: [CInt], on loop: EventLoop
    ) throws -> UVListener {
        loop.core.checkThread()
        guard !loop.core.isShutDown else { throw FutureError.shutDown }
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
        guard let address = SocketAddress(localOf: descriptor) else {
            throw refusal("is a socket of neither TCP nor the UNIX domain")
        }
        guard families.contains(address.family) else {
            let kind = address.family == AF_UNIX ? "the UNIX domain" : "TCP"
            throw refusal("is a socket of \(kind) (\(address)), which this server or listener does not take")
        }
        let driver = loop.uv
        return try AdoptedDescriptors.take(descriptor, on: driver) {
            try UVListener(driver, adopting: $0, address)
        }
    }

    /// Gives the socket up, which listens on; the caller owns the descriptor.
    func release() -> CInt? {
        guard !isClosing else { return nil }
        closeAdopted(descriptor) { close() }
        return descriptor
    }
}
