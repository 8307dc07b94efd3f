import Foundation
import FuturesTesting
import Testing
import UVFutures

/// Runs what has come from other threads.
@discardableResult
func settle(_ loop: EventLoop, _ network: TestNetwork = .virtual) -> Bool {
    switch network {
    case .virtual: loop.advance(by: .zero)
    case .system: _ = loop.outcome(of: loop.sleep(for: .zero))
    }
    return true
}

/// A system that is asked for names, and answers when the test says so.
final class Names: @unchecked Sendable {
    // All state is behind the condition.
    private let condition = NSCondition()
    private var names: [String] = []
    private var answers: [String: [SocketAddress]] = [:]
    private var answersAll = false

    /// So far, in that order.
    var asked: [String] { condition.withLock { names } }

    var lookUp: @Sendable (String) -> Result<[SocketAddress], ResolutionError> {
        { name in
            self.condition.withLock {
                self.names.append(name)
                self.condition.broadcast()
                while self.answers[name] == nil, !self.answersAll { self.condition.wait() }
                return .success(self.answers[name] ?? [])
            }
        }
    }

    func answer(_ name: String, _ hosts: [String]) {
        let addresses = hosts.map { try! SocketAddress(host: $0, port: 0) }
        condition.withLock {
            answers[name] = addresses
            condition.broadcast()
        }
    }

    func answerAll() {
        condition.withLock {
            answersAll = true
            condition.broadcast()
        }
    }

    func waitUntilAsked(_ wanted: String..., times: Int = 1) {
        let end = Date.now + 30
        condition.withLock {
            for name in wanted {
                while names.count(where: { $0 == name }) < times, condition.wait(until: end) {}
                #expect(names.count { $0 == name } >= times, "\(name)")
            }
        }
    }
}
