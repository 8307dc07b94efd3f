import CLibUV
import Testing
import UVFutures

struct SystemErrorTests {
    @Test("an error says what was tried, the code, the address and the meaning")
    func description() throws {
        let local = try SocketAddress(host: "10.0.0.1", port: 5)
        let peer = try SocketAddress(host: "::1", port: 9)
        let both = SystemError(.connectionRefused, "connect", local: local, peer: peer)
        #expect("\(both)" == "connect ECONNREFUSED [::1]:9: connection refused")
        let one = SystemError(.addressInUse, "listen", local: local, peer: nil)
        #expect("\(one)" == "listen EADDRINUSE 10.0.0.1:5: address already in use")
        let none = SystemError(.tooManyOpenFiles, "loop", local: nil, peer: nil)
        #expect("\(none)" == "loop EMFILE: too many open files")
    }

    @Test("a code has the name and the number of the system")
    func codes() {
        #expect(SystemError.Code.connectionReset.name == "ECONNRESET")
        #expect(SystemError.Code.connectionReset.rawValue == -104)
        #expect(SystemError.Code.timedOut.message == "connection timed out")
        #expect("\(SystemError.Code(rawValue: -9_999))".contains("9999"))
        #expect(SystemError.Code(rawValue: -9_999).message == "Unknown system error -9999")
    }

    @Test("names and meanings are those of libuv, for all that it knows")
    func table() {
        func text(
            of number: CInt, _ write: (CInt, UnsafeMutablePointer<CChar>, Int) -> UnsafeMutablePointer<CChar>?
        ) -> String {
            unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 128) { buffer in
                unsafe String(cString: write(number, buffer.baseAddress!, buffer.count)!)
            }
        }
        var count = 0
        for number in CInt(-4_100)..<0 {
            let name = unsafe text(of: number, uv_err_name_r)
            guard !name.hasPrefix("Unknown system error") else { continue }
            count += 1
            let code = SystemError.Code(rawValue: number)
            #expect(code.name == name)
            unsafe #expect(code.message == text(of: number, uv_strerror_r))
        }
        #expect(count > 80)
    }

    @Test("a code that libuv does not know has a name and a meaning where the library makes it")
    func additions() {
        #expect(SystemError.Code.quotaExceeded.name == "EDQUOT")
        #expect(SystemError.Code.quotaExceeded.message == "disk quota exceeded")
    }

    @Test("what a peer that left causes is told from failures")
    func disconnection() {
        let codes: [SystemError.Code] = [
            .brokenPipe, .connectionAborted, .connectionReset, .notConnected, .timedOut,
        ]
        for code in codes {
            let error: any Error = SystemError(code, "read", local: nil, peer: nil)
            #expect(error.isDisconnection, "\(error)")
            #expect(!SystemError(code, "connect", local: nil, peer: nil).isDisconnection)
        }
        for code in [SystemError.Code.tooManyOpenFiles, .connectionRefused, .hostUnreachable, .addressInUse] {
            #expect(!SystemError(code, "read", local: nil, peer: nil).isDisconnection)
        }
    }

    @Test("only ECANCELED reads as cancellation")
    func cancellation() throws {
        #expect(SystemError(.cancelled, "write", local: nil, peer: nil).isCancellation)
        #expect(!SystemError(.timedOut, "connect", local: nil, peer: nil).isCancellation)
        try withLoop { loop in
            let future: Future<Void> = loop.failed(SystemError(.cancelled, "write", local: nil, peer: nil))
            #expect(throws: CancellationError.self) { try future.result?.get() }
        }
    }
}
