import Testing
import UVFutures

struct UVErrorTests {
    @Test("an error says what was tried, the code, the address and the meaning")
    func description() throws {
        let local = try SocketAddress(host: "10.0.0.1", port: 5)
        let peer = try SocketAddress(host: "::1", port: 9)
        let both = UVError(.connectionRefused, "connect", local: local, peer: peer)
        #expect("\(both)" == "connect ECONNREFUSED [::1]:9: connection refused")
        let one = UVError(.addressInUse, "listen", local: local, peer: nil)
        #expect("\(one)" == "listen EADDRINUSE 10.0.0.1:5: address already in use")
        let none = UVError(.tooManyOpenFiles, "loop", local: nil, peer: nil)
        #expect("\(none)" == "loop EMFILE: too many open files")
    }

    @Test("a code has the name and the number of the system")
    func codes() {
        #expect(UVError.Code.connectionReset.name == "ECONNRESET")
        #expect(UVError.Code.connectionReset.rawValue == -104)
        #expect(UVError.Code.timedOut.message == "connection timed out")
        #expect("\(UVError.Code(rawValue: -9_999))".contains("9999"))
    }

    @Test("what a peer that left causes is told from failures")
    func disconnection() {
        let codes: [UVError.Code] = [
            .brokenPipe, .connectionAborted, .connectionReset, .notConnected, .timedOut,
        ]
        for code in codes {
            let error: any Error = UVError(code, "read", local: nil, peer: nil)
            #expect(error.isDisconnection, "\(error)")
            #expect(!UVError(code, "connect", local: nil, peer: nil).isDisconnection)
        }
        for code in [UVError.Code.tooManyOpenFiles, .connectionRefused, .hostUnreachable, .addressInUse] {
            #expect(!UVError(code, "read", local: nil, peer: nil).isDisconnection)
        }
    }

    @Test("only ECANCELED reads as cancellation")
    func cancellation() throws {
        #expect(UVError(.cancelled, "write", local: nil, peer: nil).isCancellation)
        #expect(!UVError(.timedOut, "connect", local: nil, peer: nil).isCancellation)
        try withLoop { loop in
            let future: Future<Void> = loop.failed(UVError(.cancelled, "write", local: nil, peer: nil))
            #expect(throws: CancellationError.self) { try future.result?.get() }
        }
    }
}
