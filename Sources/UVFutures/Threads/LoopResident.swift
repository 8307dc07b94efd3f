internal import Futures
internal import SystemIO

/// An object that belongs to a loop, and that other threads refer to by a number. The loop keeps the
/// object until `leave`, or until the loop is shut down.
struct LoopResident<Value: AnyObject>: Sendable {
    let loop: LoopCore
    private let id: UInt64

    /// Makes `value` a resident. Call it on the loop's thread.
    init(_ value: Value, on loop: LoopCore) {
        self.loop = loop
        let system = loop.system
        id = system.nextResidentNumber()
        system.residents[id] = value
    }

    /// The object, or `nil` if the loop no longer keeps it. Read it on the loop's thread.
    var value: Value? { loop.system.residents[id] as? Value }

    func leave() { loop.system.residents[id] = nil }
}
