internal import CSystem
internal import Futures
internal import Glibc

extension UVDatagrams {
    /// Makes a transport that takes over a socket for datagrams. Puts it into non-blocking mode. Programs that this
    /// process starts do not inherit it. `what` is a name of the socket for error texts. `families` are the address
    /// families of the socket's class.
    ///
    /// If this throws, the caller keeps the descriptor.
    static func adopting(
        _ descriptor: CInt, called what: String, families: [CInt], on loop: EventLoop
    ) throws -> UVDatagrams {
        let driver = try loop.openDriver()
        func refusal(_ text: String) -> FutureError { .invalidArgument("\(what) \(text)") }

        guard let type = socketOption(SO_TYPE, of: descriptor) else {
            throw errno == ENOTSOCK
                ? refusal("is not a socket; give one for datagrams")
                : refusal("is not open; give one of a socket for datagrams")
        }
        guard type == CInt(SOCK_DGRAM.rawValue) else {
            throw refusal("is a socket of streams, not of datagrams; give one of type SOCK_DGRAM")
        }
        guard let address = try SocketAddress.local(of: descriptor, "adopt"),
            families.contains(address.family)
        else {
            throw refusal("is a socket of another family than this kind takes")
        }
        return try AdoptedDescriptors.take(descriptor, on: driver) {
            // `uv_poll_init` sets non-blocking mode.
            try UVDatagrams(driver, adopting: $0)
        }
    }
}
