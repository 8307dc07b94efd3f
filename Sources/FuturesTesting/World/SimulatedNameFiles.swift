internal import Futures
internal import SystemIO

/// The files of a simulated host that control how names are resolved.
struct SimulatedNameFiles {
    /// `nil` stands for a file that lists the name servers of the world.
    var resolvConf: String? { didSet { version += 1 } }
    var hosts = "127.0.0.1 localhost\n::1 localhost\n" {
        didSet {
            version += 1
            listed = nil
        }
    }
    private var listed: HostsFile?
    fileprivate private(set) var version = 0

    fileprivate mutating func addresses(of name: String) -> [SocketAddress] {
        let listed = listed ?? HostsFile(Array(hosts.utf8))
        self.listed = listed
        return listed.addresses(of: name)
    }
}

extension EventLoop {
    /// The addresses of `name` in the `hosts` file of the loop's host, which a system reads before it sends a query.
    /// They are sorted as the C library sorts them: IPv6 first, unreachable addresses last.
    func listedAddresses(of name: String, port: Int) -> [SocketAddress] {
        guard let host = (core.driver as? VirtualDriver)?.host else { return [] }
        let all = host.nameFiles.addresses(of: name).map { $0.with(port: UInt16(port)) }
        func canReach(_ address: SocketAddress) -> Bool { host.source(towards: address, from: nil) != nil }
        return all.filter(canReach) + all.filter { !canReach($0) }
    }
}

extension SimulatedHost {
    /// The text of `resolv.conf` on this host, as `DNSResolver` reads it. By default it lists the name servers of the
    /// world.
    public var resolvConf: String {
        get { nameFiles.resolvConf ?? simulation.nameServers.map { "nameserver \($0)\n" }.joined() }
        set { nameFiles.resolvConf = newValue }
    }

    /// The text of the `hosts` file of this host, as `SystemResolver` and `DNSResolver` read it. By default it contains
    /// only `localhost`.
    public var hostsFile: String {
        get { nameFiles.hosts }
        set { nameFiles.hosts = newValue }
    }
}

extension VirtualDriver {
    func nameConfiguration(unless stamp: [Int]?) -> NameConfiguration? {
        let current = [host.nameFiles.version, simulation.nameServers.count]
        guard stamp != current else { return nil }
        return (current, Array(host.resolvConf.utf8), Array(host.hostsFile.utf8))
    }
}
