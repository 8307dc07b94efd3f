internal import Futures
internal import UVFutures

/// The names of a virtual loop of its own: there is none but localhost.
struct NoNames: NameResolver {
    func resolve(_ name: String, port: Int, on loop: EventLoop) -> Future<[SocketAddress]> {
        if case .localhost(let addresses)? = try? Host(name, port: port) { return loop.succeeded(addresses) }
        return loop.failed(ResolutionError(name: name, code: .nameNotFound))
    }
}
