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

    /// Notes what a future ends with. Every third step is awaited in a body.
    func watch<Value>(_ number: Int, _ future: Future<Value>, _ text: @escaping (Value) -> String) {
        if number % 3 == 0 {
            Future(on: future.loop) { self.put(number, text(try await future.value)) }.whenFailure {
                self.put(number, addressText(of: $0))
            }
        } else {
            future.whenComplete { [self] result in
                switch result {
                case .success(let value): put(number, text(value))
                case .failure(let error): put(number, addressText(of: error))
                }
            }
        }
    }

    private func put(_ number: Int, _ text: String) {
        outcomes[outcomes.firstIndex { $0.number == number }!].text = text
    }
}

func addressText(of address: SocketAddress?) -> String { address.map { "\($0)" } ?? "none" }

func addressText(of error: any Error) -> String {
    guard let error = error as? SystemError else { return "\(error)" }
    return "\(error), at \(addressText(of: error.localAddress)) with \(addressText(of: error.peerAddress))"
}
