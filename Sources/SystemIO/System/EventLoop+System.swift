package import Futures

extension LoopCore {
    /// Creates the core of a loop that `system` drives.
    package convenience init(
        on system: any LoopSystem, isAttached: Bool = false, movesWithTasks: Bool = false
    ) {
        self.init(
            driver: system, systemBox: SystemBox(system), isAttached: isAttached,
            movesWithTasks: movesWithTasks)
    }
}

extension EventLoop {
    /// The system of this loop.
    package var system: any LoopSystem {
        // A checked cast is slow, above all one to a protocol.
        unsafe unsafeDowncast(core.systemBox!, to: SystemBox.self).system
    }

    /// Returns the part of the system that takes over descriptors. Throws `FutureError.shutDown` if the loop has been
    /// shut down. Traps on a thread that the loop does not belong to, and if the loop is virtual.
    func descriptorSystem() throws(FutureError) -> any DescriptorSystem {
        try core.checkRuns()
        guard let descriptors = system.descriptors else { trapForDescriptors() }
        return descriptors
    }
}

/// Ends the process, because a virtual loop was asked for something that needs descriptors.
package func trapForDescriptors() -> Never {
    trap("A virtual event loop has no descriptors. Make the loop with EventLoop() or use EventLoop.main.")
}

private final class SystemBox {
    let system: any LoopSystem

    init(_ system: any LoopSystem) { self.system = system }
}
