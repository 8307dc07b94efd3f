internal import Futures
internal import SystemIO

/// The places for concurrent handshakes, and the queue for them. While a handshake waits, another makes room: the one
/// whose client has owed its next message longest, if that is at least a quarter of a second.
final class HandshakePlaces {
    private let core: LoopCore
    private let line: FutureSemaphore
    /// The clients that owe a message, and since when.
    private var owing: [ObjectIdentifier: (tcp: TCPConnection, since: UInt64)] = [:]
    private var timer: ScheduledTask<Void>?
    /// Ends the connection of a handshake. This releases its permit.
    var end: (TCPConnection) -> Void = { _ in }

    init(_ count: Int, on loop: EventLoop) {
        core = loop.core
        line = FutureSemaphore(count: count, on: loop)
    }

    /// Completes with a permit for one handshake.
    func acquire() -> Future<Permit> {
        let permit = line.acquire()
        makeRoom()
        return permit
    }

    /// Records whether the client of `tcp` owes its next message from now on.
    func note(_ tcp: TCPConnection, owes: Bool) {
        owing[ObjectIdentifier(tcp)] = owes ? (tcp, core.clock) : nil
        if owes { makeRoom() }
    }

    /// Ends an overdue handshake if another one waits. Checks again when the next one becomes overdue.
    private func makeRoom() {
        guard line.waitingCount > 0, timer == nil else { return }
        let (now, patience) = (core.clock, TCPServer.patience)
        let late = owing.values.filter { $0.since + patience <= now }.sorted { $0.since < $1.since }
        // Bytes that have arrived but have not been read count as an answer.
        if let first = late.first(where: { !$0.tcp.transport.hasArrivals }) {
            owing[ObjectIdentifier(first.tcp)] = nil
            end(first.tcp)
        }
        guard let next = owing.values.map(\.since).min() else { return }
        let wait = max(next + patience, now + 1_000_000) - now
        timer = core.schedule(after: .nanoseconds(wait)) { [self] in
            timer = nil
            makeRoom()
        }
    }
}
