internal import Futures

extension EventLoop {
    /// Returns the system of this loop, and `backlog` as the system takes it. Throws an error if `backlog` is
    /// out of range, or if this loop has been shut down.
    func system(forBacklog backlog: Int) throws -> (any LoopSystem, backlog: CInt) {
        core.checkThread()
        guard !core.isShutDown else { throw FutureError.shutDown }
        guard let backlog = CInt(exactly: backlog), backlog >= 0 else {
            throw FutureError.invalidArgument(
                "a backlog of \(backlog) is out of range; give 0 to \(CInt.max)")
        }
        return (system, backlog)
    }
}
