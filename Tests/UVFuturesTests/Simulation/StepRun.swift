import Futures
import UVFutures

/// What became of the steps of a program so far, each by its number, and what its sockets were told of their peers.
class StepRun {
    var outcomes: [(number: Int, text: String)] = []

    func note(_ number: Int, _ body: () throws -> String) {
        let index = outcomes.count
        outcomes.append((number, ""))
        do { outcomes[index].text = try body() } catch { outcomes[index].text = addressText(of: error) }
    }

    func watch<Value>(_ number: Int, _ future: Future<Value>, _ text: @escaping (Value) -> String) {
        future.whenComplete { [self] result in
            let index = outcomes.firstIndex { $0.number == number }!
            switch result {
            case .success(let value): outcomes[index].text = text(value)
            case .failure(let error): outcomes[index].text = addressText(of: error)
            }
        }
    }
}

func addressText(of address: SocketAddress?) -> String { address.map { "\($0)" } ?? "none" }

func addressText(of error: any Error) -> String {
    guard let error = error as? UVError else { return "\(error)" }
    return "\(error), at \(addressText(of: error.localAddress)) with \(addressText(of: error.peerAddress))"
}
