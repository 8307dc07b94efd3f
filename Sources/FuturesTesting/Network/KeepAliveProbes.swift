internal import SystemIO

/// The keep-alive probes of a socket whose peer is silent. Within a host, every probe would be answered, so none are
/// sent.
final class KeepAliveProbes: SimulatedEvent {
    private let settings: KeepAlive
    private unowned let socket: SimulatedSocket
    private let wire: Wire
    private var lastHeard: UInt64
    private var missed = 0
    var isOver: Bool

    init(_ settings: KeepAlive, of socket: SimulatedSocket, along wire: Wire) {
        self.settings = settings
        self.socket = socket
        self.wire = wire
        lastHeard = socket.simulation.now
        isOver = wire.isLocal
        if !isOver { wait(until: lastHeard + seconds(settings.idle)) }
    }

    func heardOfPeer() {
        lastHeard = socket.simulation.now
        missed = 0
    }

    func happen() {
        guard !isOver else { return }
        let now = socket.simulation.now
        let due = lastHeard + seconds(settings.idle)
        if now < due { return wait(until: due) }
        if wire.isAnswered() {
            heardOfPeer()
            return wait(until: now + seconds(settings.idle))
        }
        missed += 1
        guard missed <= Int(settings.probes) else { return socket.timedOut() }
        wait(until: now + seconds(settings.interval))
    }

    private func wait(until time: UInt64) { socket.simulation.add(self, at: time) }

    private func seconds(_ count: CInt) -> UInt64 { UInt64(count) * 1_000_000_000 }
}
