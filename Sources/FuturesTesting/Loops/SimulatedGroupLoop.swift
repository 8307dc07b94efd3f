internal import Futures
internal import SystemIO

/// An additional loop of a simulated host, for a server group.
struct SimulatedGroupLoop: GroupLoop {
    let loop: EventLoop

    private var driver: VirtualDriver { loop.core.driver as! VirtualDriver }

    func call<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) throws -> Value { try body() }

    /// Ends the loop in a separate event, because the caller may run on it.
    func shutdown() { driver.simulation.call { join() } }

    func join() {
        loop.shutdown()
        driver.host.forget(loop)
    }

    func whenEnded(_ body: @escaping @Sendable () -> Void) { driver.whenEnded(body) }
}
