internal import ByteStreams
internal import FoundationEssentials
internal import SystemIO

extension SimulatedSocket {
    func tryWrite(_ bytes: RawSpan) throws -> Int { try wireToWrite().send(Data(copying: bytes)) }

    func tryWrite(_ buffers: [Data]) throws -> Int {
        let wire = try wireToWrite()
        var taken = 0
        for buffer in buffers {
            let count = wire.send(buffer)
            taken += count
            if count < buffer.count { break }
        }
        return taken
    }

    /// Returns the wire to write to. Throws an error if a write fails now.
    func wireToWrite() throws(SystemError) -> Wire {
        guard let outgoing, let incoming else { throw error(.notConnected, "write") }
        if kind == .unix, outgoing.isAbandoned || incoming.isReset { throw error(.brokenPipe, "write") }
        if incoming.isReset { throw error(incoming.isEndDelivered ? .brokenPipe : .connectionReset, "write") }
        return outgoing
    }

    func write(_ buffers: [Data]) {
        pending.begin(buffers)
        roomChanged()
    }

    /// Called when the peer has read, so that more may be written.
    func roomChanged() {
        guard pending.isWaiting, !isAnswering else { return }
        isAnswering = true
        simulation.call { [self] in
            whenAwake { [self] in
                isAnswering = false
                if !isClosing { driver.serve(goOnWriting) }
            }
        }
    }

    func goOnWriting() {
        guard !isClosing, pending.goOn(tryWrite) else { return }
        loop.turn { unsafe stream?.transportDidWrite(failure: pending.failure) }
    }

    var unwrittenBytes: Int { pending.byteCount }

    func shutdownWrite() {
        hasEndedFirst = endsFirst
        outgoing?.sendEnd()
        soon { [self] in unsafe stream?.transportDidShutdown(failure: nil) }
    }

    var unacknowledgedBytes: Int { kind == .tcp ? outgoing?.unacknowledged ?? 0 : 0 }

    /// Breaks the connection, because the peer does not acknowledge the bytes that were sent.
    func timedOut() {
        whenAwake { [self] in
            if !isClosing { driver.deliver { breakDown(error(.timedOut, "read")) } }
        }
    }
}
