import Foundation
import UVFutures

/// Where a replica listens.
struct Member: Hashable, Sendable {
    let host: String
    let port: Int
}

/// Asks another replica. A request is a line with a number in front, and so is its answer.
final class Peer {
    private let member: Member
    private let loop: EventLoop
    private let patience: Duration
    private let mistake: Mistake?
    private var connection: Future<TCPConnection>?
    private var waiting: [(number: Int, answer: Promise<String>)] = []
    private var lastNumber = 0
    private var failuresInARow = 0

    init(_ member: Member, patience: Duration, on loop: EventLoop, mistake: Mistake?) {
        (self.member, self.patience, self.loop, self.mistake) = (member, patience, loop, mistake)
    }

    /// Whether the peer has answered lately.
    var isReachable: Bool { connection?.isSuccess == true && failuresInARow == 0 }

    /// Completes with the answer. Fails if none comes in time; the peer may have got the request nevertheless.
    func ask(_ request: String) -> Future<String> {
        lastNumber += 1
        let number = lastNumber
        return connected().flatMap { [self] connection in
            let answer = loop.makePromise(of: String.self)
            waiting.append((number, answer))
            connection.write("\(number) \(request)\n")
            return answer.future
        }
        .timeout(after: patience)
        .tapResult { [self] result in
            waiting.removeAll { $0.number == number }
            if case .success = result { failuresInARow = 0 } else { failed() }
        }
    }

    /// After three failures the connection may be dead, though nobody has said so.
    private func failed() {
        failuresInARow += 1
        guard failuresInARow % 3 == 0 else { return }
        disconnect()
    }

    func disconnect() {
        connection?.tap { $0.abort() }.ignoreFailure()
        connection = nil
    }

    private func connected() -> Future<TCPConnection> {
        if let connection { return connection.branch() }
        let connecting = TCPConnection.connect(
            host: member.host, port: member.port, timeout: patience, on: loop)
        connection = connecting
        connecting.whenComplete { [self] result in
            guard case .success(let opened) = result else { return forget(connecting) }
            Future<Void>(on: loop) { for try await line in opened.lines() { self.received(line) } }
                .whenComplete { [self] _ in
                    opened.close()
                    forget(connecting)
                }
        }
        return connecting.branch()
    }

    private func forget(_ old: Future<TCPConnection>) {
        if connection?.id == old.id { connection = nil }
    }

    private func received(_ line: Data) {
        let words = line.text.split(separator: " ", maxSplits: 1)
        guard words.count == 2, let number = Int(words[0]) else { return }
        let isAnswer = { [mistake] (other: Int) in mistake == .matchesRepliesInOrder || other == number }
        waiting.first { isAnswer($0.number) }?.answer.succeed(String(words[1]))
    }
}
