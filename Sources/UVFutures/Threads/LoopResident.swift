internal import Futures
internal import Synchronization

/// Something that belongs to a loop of libuv, and of which other threads speak by a number. The loop holds it until
/// it is shut down, or until `leave`.
struct LoopResident<Value: AnyObject>: Sendable {
    let loop: LoopCore
    private let id: UInt64

    /// On the loop's thread.
    init(_ value: Value, on loop: LoopCore) {
        self.loop = loop
        id = lastID.add(1, ordering: .relaxed).newValue
        loop.uv.residents[id] = value
    }

    /// `nil` if it has gone. On the loop's thread.
    var value: Value? { loop.uv.residents[id] as? Value }

    func leave() { loop.uv.residents[id] = nil }
}

private let lastID = Atomic<UInt64>(0)
