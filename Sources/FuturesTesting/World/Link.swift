internal import Futures

extension World {
    /// The connection between two hosts of a ``World``, in both directions: ``World/link(_:_:)``.
    public final class Link {
        private let paths: [Path]
        private let simulation: Simulation
        private let name: String

        init(_ simulation: Simulation, _ a: SimulatedHost, _ b: SimulatedHost) {
            self.simulation = simulation
            name = "\(a.name) – \(b.name)"
            paths = simulation.routes.paths(between: a, b)
        }

        /// The time that a message takes, in each direction.
        public var latency: Latency {
            get { paths[0].latency }
            set {
                newValue.check()
                for path in paths { path.latency = newValue }
            }
        }

        /// The number of bytes per second, in each direction. `nil` for no limit.
        public var bandwidth: Int? {
            get { paths[0].bandwidth }
            set {
                if let newValue, newValue < 1 {
                    fatalError(
                        "The bandwidth of \(name) was set to \(newValue); give 1 or more, or nil for no limit."
                    )
                }
                for path in paths { path.bandwidth = newValue }
            }
        }

        /// The fraction of datagrams that are lost, from 0 to 1. Connections are not affected.
        public var datagramLoss: Double {
            get { paths[0].ownTrouble.loss }
            set { change("datagramLoss", newValue) { $0.loss = $1 } }
        }

        /// The fraction of datagrams that arrive twice, from 0 to 1.
        public var datagramDuplication: Double {
            get { paths[0].ownTrouble.duplication }
            set { change("datagramDuplication", newValue) { $0.duplication = $1 } }
        }

        /// The fraction of datagrams that arrive up to 100 ms later than the others, from 0 to 1. Datagrams are also
        /// reordered if the ``latency`` varies.
        public var datagramReordering: Double {
            get { paths[0].ownTrouble.reordering }
            set { change("datagramReordering", newValue) { $0.reordering = $1 } }
        }

        /// The largest packet of the link in bytes, including 28 bytes of headers. `nil`, the default, stands for no
        /// limit. A longer datagram travels in several packets. If one of them is lost, the datagram is lost.
        public var mtu: Int? {
            get { paths[0].ownTrouble.maximumPacket }
            set {
                if let newValue, newValue < 68 {
                    fatalError("The mtu of \(name) was set to \(newValue); give 68 or more, as IPv4 needs.")
                }
                for path in paths { path.ownTrouble.maximumPacket = newValue }
            }
        }

        /// Whether the link drops datagrams that are longer than its ``mtu``, as many firewalls do. The default is
        /// `false`.
        public var dropsFragments: Bool {
            get { paths[0].ownTrouble.dropsFragments }
            set { for path in paths { path.ownTrouble.dropsFragments = newValue } }
        }

        private func change(
            _ what: String, _ share: Double, _ change: (inout DatagramTrouble, Double) -> Void
        ) {
            guard (0...1).contains(share) else {
                fatalError("The \(what) of \(name) was set to \(share); give 0 to 1.")
            }
            for path in paths { change(&path.ownTrouble, share) }
        }

        /// Resets all connections between the two hosts. A reset does not pass a partition: a reset that is in transit
        /// when the partition begins arrives after its end.
        public func breakConnections() {
            simulation.trace.note("the connections of \(name) break", at: simulation.now)
            for wire in paths.flatMap(\.all) { wire.breakDown() }
        }
    }
}

extension World {
    /// Returns the link between two hosts, whose latency and bandwidth can be set. Traps if the world does not have
    /// both hosts.
    public func link(_ a: String, _ b: String) -> Link {
        let (a, b) = a < b ? (a, b) : (b, a)
        return Link(simulation, host(a), host(b))
    }

    /// Cuts the link between two hosts: messages are lost in both directions. The systems retransmit lost bytes, and
    /// give up a connection after about 15 minutes.
    public func partition(_ a: String, _ b: String) {
        note("\(a) and \(b) are parted")
        for path in paths(a, b) { path.isCut = true }
    }

    /// Cuts the link from one host to another. The opposite direction stays open.
    public func partition(from a: String, to b: String) {
        note("nothing passes from \(a) to \(b)")
        paths(a, b)[0].isCut = true
    }

    /// Cuts the links between the hosts of `group` and all others.
    public func isolate(_ group: String...) {
        let inside = Set(group.map { host($0).name })
        for a in hosts where inside.contains(a.name) {
            for b in hosts where !inside.contains(b.name) { partition(a.name, b.name) }
        }
    }

    /// Holds all messages between two hosts, until ``release(_:_:)``. Nothing is lost.
    public func hold(_ a: String, _ b: String) {
        note("what \(a) and \(b) send is held")
        for path in paths(a, b) { path.isHeld = true }
    }

    /// Releases the held messages between two hosts, and stops holding new ones.
    public func release(_ a: String, _ b: String) {
        note("what \(a) and \(b) sent is released")
        for path in paths(a, b) { path.isHeld = false }
    }

    /// Repairs the link between two hosts.
    public func heal(_ a: String, _ b: String) {
        note("\(a) and \(b) reach each other again")
        for path in paths(a, b) { path.isCut = false }
    }

    /// Repairs all links, and releases all held messages.
    public func heal() {
        note("all links are repaired")
        for a in hosts {
            for b in hosts where a !== b {
                let path = simulation.routes.path(from: a, to: b)
                path.isCut = false
                path.isHeld = false
            }
        }
    }

    /// Returns the paths from `a` to `b` and back.
    private func paths(_ a: String, _ b: String) -> [Path] {
        if a == b { fatalError("A world was asked for the link of host \(a) to itself, but has none.") }
        return simulation.routes.paths(between: host(a), host(b))
    }
}
