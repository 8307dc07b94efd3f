public import Futures

extension DNSResolver {
    /// Completes with the addresses of `name`, IPv6 first, each with the time for which it stays valid. Looks up `name`
    /// and fails as ``resolve(_:port:on:)`` does.
    public func addresses(of name: String, on loop: EventLoop) -> Future<[AddressRecord]> {
        look(on: loop) { try $0.addresses(of: name) }
    }

    /// Completes with the servers of a service, in the order in which to try them. The name of a service looks like
    /// `_http._tcp.example.com`.
    ///
    /// Servers with a lower priority come first. Each call orders servers of the same priority at random, and puts
    /// those with a higher weight first more often ([RFC 2782](https://www.rfc-editor.org/rfc/rfc2782)). The names of
    /// the servers still have to be resolved, as `connect` does. `service` is an absolute name: the `search` domains do
    /// not apply.
    ///
    /// Fails with ``ResolutionError`` if no such records exist, if the domain says that it does not have the service,
    /// or if no server has given an answer. Fails with ``Futures/FutureError/invalidArgument(_:)`` if `service` is
    /// malformed.
    ///
    /// ```swift
    /// let resolver = try DNSResolver()
    /// let server = try await resolver.services(of: "_http._tcp.example.com", on: loop).value[0]
    /// let connection = TCPConnection.connect(host: server.target, port: server.port, on: loop)
    /// ```
    public func services(of service: String, on loop: EventLoop) -> Future<[SRVRecord]> {
        look(on: loop) { engine in
            try engine.records(.service, of: service).map { answer in
                let records = answer.services(at: engine.loop.now)
                guard records.contains(where: { $0.target != "." }) else {
                    throw answer.failure(of: service, because: "the domain does not have the service")
                }
                return records.ordered(using: &engine.loop.random)
            }
        }
    }

    /// Completes with the texts of `name`, in the order in which the server gives them. `name` is an absolute name.
    /// Fails as ``services(of:on:)`` does.
    public func texts(of name: String, on loop: EventLoop) -> Future<[TXTRecord]> {
        look(on: loop) { engine in
            try engine.records(.text, of: name).map { $0.texts(at: engine.loop.now) }
        }
    }

    /// Completes with the mail servers of `domain`, the preferred server first. `domain` is an absolute name.
    ///
    /// Fails as ``services(of:on:)`` does, also if the domain says that it takes no mail. A domain without such records
    /// may take mail at its own address.
    public func mailExchanges(of domain: String, on loop: EventLoop) -> Future<[MXRecord]> {
        look(on: loop) { engine in
            try engine.records(.exchange, of: domain).map { answer in
                let records = answer.mailExchanges(at: engine.loop.now)
                guard records.contains(where: { $0.exchange != "." }) else {
                    throw answer.failure(of: domain, because: "the domain takes no mail")
                }
                return records.sorted { $0.preference < $1.preference }
            }
        }
    }

    /// Completes with the names of an IPv4 or IPv6 address. `::ffff:192.0.2.1` counts as IPv4. The port is ignored. The
    /// owner of the address chooses these names, so they prove nothing.
    ///
    /// Fails with ``ResolutionError`` if the address has no name, or if no server has given an answer. Fails with
    /// ``Futures/FutureError/invalidArgument(_:)`` if `address` is in the UNIX domain.
    public func names(of address: SocketAddress, on loop: EventLoop) -> Future<[PTRRecord]> {
        look(on: loop) { try $0.names(of: address) }
    }
}
