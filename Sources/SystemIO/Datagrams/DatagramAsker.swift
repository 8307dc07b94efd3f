internal import Futures

/// Gets the datagrams of one iteration for a task that waits, without a future for each of them.
final class DatagramAsker: ElementAsker {
    private let socket: DatagramSocket
    private var source: ElementSource<Datagram>?

    init(_ socket: DatagramSocket) { self.socket = socket }

    func ask(for wait: ElementWait) -> Bool {
        let source = wait as! ElementSource<Datagram>
        if let datagram = socket.takeBuffered() {
            source.deliver(datagram)
            return true
        }
        guard socket.add(self) else { return false }
        self.source = source
        return true
    }

    func stopAsking(for wait: ElementWait) {
        if source.take() != nil { socket.remove(self) }
    }

    func deliver(_ datagram: Datagram) { source.take()?.deliver(datagram) }

    func end(because error: (any Error)?) { source.take()?.end(because: error) }
}
