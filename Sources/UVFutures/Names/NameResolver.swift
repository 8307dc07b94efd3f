public import Futures

/// A resolver of host names to addresses, for a loop or one ``TCPConnection``.
///
/// ``SystemResolver`` asks the system. Another resolver answers from a table, a cache or a server of its own.
public protocol NameResolver {
    /// Completes with the addresses of `name`, the best first, each with `port`.
    ///
    /// Called on the thread of `loop`. The future has to belong to `loop`. Names are well formed, and neither numeric
    /// nor `localhost`. Cancelled when nothing waits for the answer any more.
    func resolve(_ name: String, port: Int, on loop: EventLoop) -> Future<[SocketAddress]>
}

extension EventLoop {
    /// The resolver for connections of this loop, unless they have one of their own: ``SystemResolver/shared`` at
    /// first.
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

    /// Completes with the addresses of `host`, the best first, each with `port`. Completes at once if `host` is a
    /// numeric address or `localhost`, otherwise asks `resolver`, or else the loop's resolver.
    ///
    /// Fails with ``ResolutionError`` if there are no addresses, with ``Futures/FutureError/invalidArgument(_:)`` if
    /// `host` is neither an address nor a well-formed name, and with what the resolver fails with.
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

    /// Completes with the addresses of a well-formed name, at least one.
    func resolve(_ name: String, port: Int, by resolver: (any NameResolver)?) -> Future<[SocketAddress]> {
        (resolver ?? self.resolver).resolve(name, port: port, on: core).map { addresses in
            guard !addresses.isEmpty else { throw ResolutionError(name: name, code: .noAddress) }
            return addresses
        }
    }
}

/// The resolver of one loop.
private final class LoopResolver {
    let resolver: any NameResolver

    init(_ resolver: any NameResolver) { self.resolver = resolver }
}
