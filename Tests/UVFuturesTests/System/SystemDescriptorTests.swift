import Foundation
import Futures
import Glibc
import TestSupport
import Testing

@testable import SystemIO
@testable import UVFutures

struct SystemDescriptorTests {
    @Test("a descriptor that was closed is not closed again when its owner is released")
    func closesOnce() async {
        await #expect(processExitsWith: .success) {
            try RemoteContext.files.setLimit(1)
            var owner: SystemDescriptor? = SystemDescriptor(dup(STDERR_FILENO))
            let number = owner!.number
            try owner!.close()
            // It is somebody else's by now.
            #expect(dup2(STDERR_FILENO, number) == number)
            owner = nil
            try withLoop { loop in try loop.run(until: RemoteContext.files.execute(on: loop) {}) }
            #expect(isOpen(number))
        }
    }

    @Test("a descriptor that is not open cannot be closed, and the error says so")
    func closesNothing() {
        #expect(throws: SystemError(.badDescriptor, "close")) { try SystemDescriptor(-1).close() }
    }

    @Test("the end of a file is no error, whatever has failed before, and a byte is a byte")
    func end() throws {
        let file = SystemDescriptor(try UVFuturesTests.file([7]))
        errno = EINTR
        #expect(try file.read(1, at: 0) == Data([7]))
        errno = EINTR
        #expect(try file.read(1, at: 1) == Data())
        try file.close()
    }

    @Test("a file without a descriptor is not for the system to send")
    func noDescriptor() {
        let socket = SendingSocket(dup(STDERR_FILENO))
        let (sent, outcome) = socket.send(WithoutDescriptor(), at: 0, 10)
        #expect(sent == 0)
        guard case .unsupported = outcome else {
            Issue.record("\(outcome)")
            return
        }
        socket.close()
    }
}

private final class WithoutDescriptor: UVFutures.FileHandle {
    private let refusal = SystemError(.notSupported, "none")
    var descriptor: CInt? { nil }
    var birth: Int64 { 0 }

    func write(_ bytes: Data, at offset: Int) throws(SystemError) -> Int { throw refusal }
    func append(_ bytes: Data) throws(SystemError) -> Int { throw refusal }
    func read(_ count: Int, at offset: Int) throws(SystemError) -> Data { throw refusal }
    func truncate(to size: Int) throws(SystemError) { throw refusal }
    func sync(dataOnly: Bool) throws(SystemError) { throw refusal }
    func information() throws(SystemError) -> FileInformation { throw refusal }
    func setPermissions(to permissions: UInt32) throws(SystemError) { throw refusal }
    func tryLock(exclusive: Bool) throws(SystemError) -> Bool { throw refusal }
    func unlock() throws(SystemError) { throw refusal }
    func close() throws(SystemError) {}
}
