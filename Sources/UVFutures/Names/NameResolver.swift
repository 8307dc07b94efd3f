public import Futures

/// Turns the names of hosts into addresses: what a loop, or one ``TCPConnection``, connects by.
///
/// ``SystemResolver`` asks the system. Another one answers from a table, a cache or a server of its own.
public protocol NameResolver {
    /// The addresses of `name`, the best first, each with `port`.
    ///
    /// Called on the thread of `loop`, of which the future has to be, with names that are well formed, and neither
    /// numeric nor `localhost`. Cancelled when nobody waits any more.
    func resolve(_ name: String, port: Int, on loop: EventLoop) -> Future<[SocketAddress]>
}

extension EventLoop {
    /// What connections of this loop resolve names by, unless they are told otherwise: ``SystemResolver/shared``
    /// at first.
    public var resolver: any NameResolver {
        get {
            core.checkThread()
            return (uv.names as? LoopResolver)?.resolver ?? SystemResolver.shared
        }
        set {
            core.checkThread()
            uv.names = LoopResolver(newValue)
        }
    }

    /// The addresses of `host`, the best first, each with `port`: at once if `host` is a numeric address or
    /// `localhost`, otherwise as `resolver`, or the loop's, says.
    ///
    /// Fails with ``ResolutionError`` if there are none, with ``Futures/FutureError/invalidArgument(_:)`` if `host`
    /// is neither an address nor a well-formed name, and with what the resolver fails with.
    public func addresses(
        of host: String, port: Int, resolver: (any NameResolver)? = nil
    ) -> Future<[SocketAddress]> {
        core.checkThread()
        guard !core.isShutDown else { return failed(FutureError.shutDown) }
        do {
            switch try Host(host, port: port) {
            case .numeric(let address): return succeeded([address])
            case .localhost(let addresses): return succeeded(addresses)
            case .name(let name): return resolve(name, port: port, by: resolver)
            }
        } catch {
            return failed(error)
        }
    }

    /// The addresses of a well-formed name, at least one.
    func resolve(_ name: String, port: Int, by resolver: (any NameResolver)?) -> Future<[SocketAddress]> {
        (resolver ?? self.resolver).resolve(name, port: port, on: self).map { addresses in
            guard !addresses.isEmpty else { throw ResolutionError(name: name, code: .noAddress) }
            return addresses
        }
    }
}

/// What one loop resolves names by.
private final class LoopResolver {
    let resolver: any NameResolver

    init(_ resolver: any NameResolver) { self.resolver = resolver }
}
