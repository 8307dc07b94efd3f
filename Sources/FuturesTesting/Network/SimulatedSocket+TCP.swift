internal import SystemIO

extension SimulatedSocket: TCPTransport, ConnectingSocket {
    func setNoDelay(_ isOn: Bool) { noDelay = isOn }

    func setUserTimeout(milliseconds: CInt) {
        userTimeout = milliseconds == 0 ? nil : UInt64(milliseconds) * 1_000_000
    }

    func setKeepAlive(_ settings: KeepAlive?) {
        probes?.isOver = true
        probes = settings.flatMap { settings in
            outgoing.map { KeepAliveProbes(settings, of: self, along: $0) }
        }
    }

    /// Starts to connect. `attempt` calls `completion` unless the socket is closed before.
    func connect(to address: SocketAddress, completion: @escaping (SystemError?) -> Void) {
        peerAddress = address
        let attempt = ConnectAttempt(self, to: address, completion)
        self.attempt = attempt
        attempt.start()
    }

    func connected() -> any TCPTransport {
        attempt = nil
        return self
    }

    func timeout() -> SystemError { error(.timedOut, "connect") }
}
