public import Futures

/// A type that turns host names into addresses. A loop has one resolver for all of its look-ups, and a call of
/// `TCPConnection.connect` can use a different one.
///
/// ``SystemResolver`` asks the system. A resolver of your own can answer from a table, from a cache, or from a
/// server.
public protocol NameResolver {
    /// Completes with the addresses of `name`, the best address first. Each address carries `port`.
    ///
    /// The library calls this function on the thread of `loop`. The returned future has to belong to `loop`.
    /// The library passes only well-formed names, and neither numeric addresses nor `localhost`. The library
    /// cancels the returned future when no code waits for the answer any more.
    func resolve(_ name: String, port: Int, on loop: EventLoop) -> Future<[SocketAddress]>
}

extension EventLoop {
    /// The resolver that this loop uses when a call of `connect` or `addresses` passes no resolver. The default
    /// is ``SystemResolver/shared``.
    public var resolver: any NameResolver {
        get {
            core.checkThread()
            return system.resolver as? any NameResolver ?? SystemResolver.shared
        }
        set {
            core.checkThread()
            let system = system
            withExtendedLifetime(exchange(&system.resolver, with: newValue)) {}
        }
    }

    /// Completes with the addresses of `host`, the best address first. Each address carries `port`. If `host` is
    /// a numeric address or `localhost`, completes at once. Otherwise asks `resolver` or, if `resolver` is `nil`,
    /// the ``resolver`` of this loop.
    ///
    /// Fails with ``ResolutionError`` if `host` has no addresses, and with the error of the resolver if the
    /// resolver fails. Fails with ``Futures/FutureError/invalidArgument(_:)`` if `host` is neither an address nor
    /// a well-formed name, or if `port` is out of range.
    public func addresses(
        of host: String, port: Int, resolver: (any NameResolver)? = nil
    ) -> Future<[SocketAddress]> {
        core.checkThread()
        guard !core.isShutDown else { return failed(FutureError.shutDown) }
        return attempt {
            switch try Host(host, port: port) {
            case .numeric(let address): return succeeded([address])
            case .localhost(let addresses): return succeeded(addresses)
            case .name(let name): return resolve(name, port: port, by: resolver)
            }
        }
    }

    /// Completes with the addresses of a well-formed name, at least one.
    func resolve(_ name: String, port: Int, by resolver: (any NameResolver)?) -> Future<[SocketAddress]> {
        (resolver ?? self.resolver).resolve(name, port: port, on: core).given(to: core).map { addresses in
            guard !addresses.isEmpty else { throw ResolutionError(name: name, code: .noAddress) }
            return addresses
        }
    }
}
