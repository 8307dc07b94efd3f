public import Futures

/// A resolver that asks name servers itself, without threads, and caches their answers.
///
/// The resolver looks into `/etc/hosts` first, and finds the name servers in `/etc/resolv.conf`. It rereads both files
/// when they have changed. It talks to the servers by UDP and, for long answers, by TCP. Each query has a socket of its
/// own, with a random port, and a random number. To use it for all connections of a loop, set the loop's resolver:
///
/// ```swift
/// loop.resolver = try DNSResolver()
/// let connection = TCPConnection.connect(host: "example.org", port: 7007, on: loop)
/// ```
///
/// Answers are cached for their time to live, and so are negative answers. Concurrent callers with the same question
/// share one query, which is dropped when no caller waits for it any more.
///
/// From `resolv.conf`, the resolver uses `nameserver` (at most three), `domain`, `search`, and the options `ndots`,
/// `timeout`, `attempts` and `rotate`. It uses no other source of names, such as mDNS, and does not read
/// `nsswitch.conf`: use ``SystemResolver`` where that matters. Without `resolv.conf`, it asks 127.0.0.1.
///
/// A server that gives no answer in time is asked after all others for the next 30 s. If no server has an answer, a
/// look-up fails with ``ResolutionError``, whose ``ResolutionError/reason`` names each server. By then, it has asked
/// each silent server `attempts` times, and the others once.
///
/// A resolver serves one loop. It traps if another loop uses it, unless the first one has been shut down.
public final class DNSResolver: NameResolver {
    private let settings: DNSSettings
    private let counts = DNSCounts()
    private var engine: DNSEngine?

    /// Creates a resolver.
    ///
    /// `servers` are the name servers to ask; `nil` stands for those of `resolv.conf`. At most `maxConcurrent` queries
    /// run at a time, each with a descriptor, and further queries wait in a queue. At most `maxCached` answers are
    /// kept; one with 1,232 bytes or more of names and data counts as several. `maxTimeToLive` limits how long answers
    /// with records are kept, and `maxNegativeTimeToLive` limits those without. With `randomizesCase`, the letters of a
    /// name are sent in random case, and an answer has to repeat that case. This makes answers still harder to forge,
    /// but a few servers do not support it.
    ///
    /// Throws ``Futures/FutureError/invalidArgument(_:)`` if `servers` is empty or has an address without a port,
    /// if `maxConcurrent` is not positive, or if another limit is negative.
    public convenience init(
        servers: [SocketAddress]? = nil, maxConcurrent: Int = 256, maxCached: Int = 1000,
        maxTimeToLive: Duration = .seconds(86_400), maxNegativeTimeToLive: Duration = .seconds(900),
        randomizesCase: Bool = false
    ) throws(FutureError) {
        try self.init(
            DNSSettings(
                servers: servers, maxConcurrent: maxConcurrent, maxCached: maxCached,
                maxTimeToLive: maxTimeToLive, maxNegativeTimeToLive: maxNegativeTimeToLive,
                randomizesCase: randomizesCase, transport: .sockets))
    }

    init(_ settings: DNSSettings) throws(FutureError) {
        try settings.check()
        self.settings = settings
    }

    /// The counts of what the resolver has done so far.
    public var statistics: DNSStatistics { counts.value }

    /// Returns the engine for `loop`. Traps if the resolver serves another loop.
    func engine(on loop: EventLoop) -> DNSEngine {
        let core = loop.core
        core.checkThread()
        if let engine, engine.loop === core { return engine }
        if let engine, !engine.loop.isShutDown {
            trap(
                "A DNSResolver was used on a second event loop. Make a DNSResolver of its own for each loop.")
        }
        let engine = DNSEngine(settings, counts, on: core)
        self.engine = engine
        return engine
    }

    /// Completes with the addresses of `name`, IPv6 first. Each address carries `port`. `connect` alternates IPv6 and
    /// IPv4, so a family that does not work here costs little time.
    ///
    /// A name with a trailing dot is absolute. Any other name is also tried in the `search` domains, before the name
    /// itself if it has fewer dots than `ndots`, and after it otherwise. Only silence of the servers ends the search
    /// early. The IPv6 and the IPv4 addresses are asked for at the same time. When those of one family arrive, the
    /// other gets 250 ms more. A name reported as missing in one family may exist in the other.
    ///
    /// Fails with ``ResolutionError`` if no addresses exist, or if no server has given an answer. Fails with
    /// ``Futures/FutureError/invalidArgument(_:)`` if `name` is malformed or `port` is out of range.
    public func resolve(_ name: String, port: Int, on loop: EventLoop) -> Future<[SocketAddress]> {
        look(on: loop) { engine in
            let number = try SocketAddress.checked(port)
            return try engine.addresses(of: name).map { $0.map { $0.address.with(port: number) } }
        }
    }

    func look<Records>(
        on loop: EventLoop, _ body: (DNSEngine) throws -> Future<Records>
    ) -> Future<Records> {
        let engine = engine(on: loop)
        guard !loop.core.isShutDown else { return loop.failed(FutureError.shutDown) }
        do { return try body(engine) } catch { return loop.failed(error) }
    }
}
