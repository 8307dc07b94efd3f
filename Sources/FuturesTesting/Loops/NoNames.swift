internal import Futures
internal import SystemIO

/// The names of a standalone virtual loop: only those of its `hosts` file, such as localhost.
struct NoNames: NameResolver {
    func resolve(_ name: String, port: Int, on loop: EventLoop) -> Future<[SocketAddress]> {
        let listed = loop.listedAddresses(of: name, port: port)
        if !listed.isEmpty { return loop.succeeded(listed) }
        return loop.failed(ResolutionError(name: name, code: .nameNotFound))
    }
}
