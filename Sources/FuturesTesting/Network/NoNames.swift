internal import Futures
internal import UVFutures

/// The names of a virtual loop of its own: there are none.
struct NoNames: NameResolver {
    func resolve(_ name: String, port: Int, on loop: EventLoop) -> Future<[SocketAddress]> {
        loop.failed(ResolutionError(name: name, code: .nameNotFound))
    }
}
