internal import Futures

/// The effects that only datagrams experience on a path.
struct DatagramTrouble {
    /// The fractions of datagrams that are lost, duplicated and reordered, from 0 to 1.
    var loss = 0.0, duplication = 0.0, reordering = 0.0
    /// The largest size of a packet in bytes. `nil` for no limit.
    var maximumPacket: Int?
    var dropsFragments = false
}

/// The datagrams of a path that arrive at the same time, in the order in which they left.
final class Landing {
    let time: UInt64
    var arrived: [() -> Void]

    init(_ time: UInt64, _ first: @escaping () -> Void) {
        self.time = time
        arrived = [first]
    }
}

extension Path {
    /// The size of the headers of a packet in bytes.
    private static let header = 28
    /// The longest extra delay of a reordered datagram.
    private static let longestDelay = 100_000_000

    /// Sends a datagram, or the system's reply to one. Calls `arrived` when it arrives: never if it is lost, and twice
    /// if it is duplicated.
    func send(datagramOf count: Int, by socket: SimulatedDatagrams?, _ arrived: @escaping () -> Void) {
        let packets = packets(ofBytes: count)
        let trouble = trouble
        let (left, time) = departure(ofBytes: count + packets * Self.header)
        socket?.bytesLeave(count, at: left)
        if state == .cut || packets > 1 && trouble.dropsFragments { return }
        for _ in 0..<packets where happens(trouble.loss) { return }
        let copies = happens(trouble.duplication) ? 2 : 1
        for copy in 0..<copies {
            var arrival = time
            // A datagram arrives with the last of its packets.
            for _ in 1..<max(packets, copy + 1) { arrival = max(arrival, left.addingSaturated(delay())) }
            if happens(trouble.reordering) {
                let late = simulation.choices!.latency.below(Self.longestDelay)
                arrival = arrival.addingSaturated(UInt64(late))
            }
            land(arrived, at: arrival)
        }
    }

    /// Lets a datagram arrive after those that left earlier and arrive at the same time. Simultaneous events have no
    /// order.
    private func land(_ arrived: @escaping () -> Void, at time: UInt64) {
        if let landing, landing.time == time { return landing.arrived.append(arrived) }
        let landing = Landing(time, arrived)
        self.landing = landing
        simulation.call(at: time) { [self] in
            if self.landing === landing { self.landing = nil }
            for arrived in landing.arrived { land(arrived) }
        }
    }

    private func land(_ arrived: @escaping () -> Void) {
        switch state {
        case .open: arrived()
        case .held: held.append(arrived)
        case .cut: break
        }
    }

    private func packets(ofBytes count: Int) -> Int {
        guard let most = trouble.maximumPacket else { return 1 }
        let room = most - Self.header
        return max(1, (count + room - 1) / room)
    }

    /// Returns `true` with the given probability. Draws a number only if the result is uncertain.
    private func happens(_ probability: Double) -> Bool {
        guard probability > 0, simulation.choices != nil else { return false }
        return simulation.choices!.latency.fraction() < probability
    }
}
