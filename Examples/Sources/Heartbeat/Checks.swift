import Foundation
import UVFutures

/// The checks of the peers: a `ping` with the number of the round for each, and a `pong` with the same number from each
/// that is up. A peer is down when it has missed three rounds in a row, since datagrams get lost.
final class Checks {
    private static let patience = 3

    private let socket: UDPSocket
    private let changed: (SocketAddress, Bool) -> Void
    private var round = 0
    private var peers: [SocketAddress] = []
    private var lastAnswers: [SocketAddress: Int] = [:]
    private var up: Set<SocketAddress> = []

    init(_ socket: UDPSocket, _ changed: @escaping (SocketAddress, Bool) -> Void) {
        self.socket = socket
        self.changed = changed
    }

    /// Begins a round: judges the last ones, and sends to each peer.
    func round(of peers: [SocketAddress]? = nil) {
        round += 1
        if let peers { self.peers = peers }
        for peer in up.sorted(by: { "\($0)" < "\($1)" }) {
            let hasLeft = !self.peers.contains(peer)
            guard hasLeft || round - lastAnswers[peer]! > Self.patience else { continue }
            up.remove(peer)
            changed(peer, false)
        }
        lastAnswers = lastAnswers.filter { up.contains($0.key) }
        for peer in self.peers { socket.send("ping \(round)", to: peer).ignoreFailure() }
    }

    /// Answers a `ping`, and notes a `pong`. Anything else is nobody's.
    func take(_ bytes: RawSpan, from header: DatagramHeader) {
        guard let source = header.source, bytes.byteCount < 64 else { return }
        let text = String(decoding: Data(copying: bytes), as: UTF8.self)
        let words = text.split(whereSeparator: \.isWhitespace)
        guard words.count == 2, let number = Int(words[1]) else { return }
        if words[0] == "ping" {
            socket.send("pong \(number)", to: source, from: header.localAddress).ignoreFailure()
        } else if words[0] == "pong", peers.contains(source), (round - Self.patience...round).contains(number)
        {
            lastAnswers[source] = max(number, lastAnswers[source] ?? 0)
            if up.insert(source).inserted { changed(source, true) }
        }
    }
}
