/// An error that tests fail with.
struct Failure: Error, Hashable {
    var code = 0

    init(_ code: Int = 0) { self.code = code }
}

/// Runs a closure when it is released.
final class Witness {
    private let released: () -> Void

    init(released: @escaping () -> Void = {}) { self.released = released }

    deinit { released() }

    /// Keeps the witness alive up to here.
    func look() {}
}

/// What has been seen to happen, in order.
final class Record {
    private(set) var entries: [String] = []

    func add(_ entry: some Any) { entries.append("\(entry)") }

    func add<Value>(_ result: Result<Value, any Error>) {
        switch result {
        case .success(let value): add(value)
        case .failure(is CancellationError): add("cancelled")
        case .failure(let error): add("failed: \(error)")
        }
    }
}
