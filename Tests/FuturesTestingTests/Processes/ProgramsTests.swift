import Foundation
import Futures
import FuturesTesting
import Testing
import UVFutures

struct ProgramsTests {
    @Test("a program that there is not cannot be started, nor one that gets what is not simulated")
    func missing() throws {
        let loop = EventLoop.virtual()
        #expect(throws: ProcessError.self) { try ChildProcess.start(.init("greet"), on: loop) }
        loop.simulatedPrograms["greet"] = { _ in loop.succeeded(0) }
        var configuration = ChildProcess.Configuration("greet")
        configuration.standardInput = .file("/etc/passwd")
        do {
            _ = try ChildProcess.start(configuration, on: loop)
            Issue.record("it was started")
        } catch {
            #expect(
                "\(error)"
                    == "greet is configured with a file, a terminal or a descriptor, which a simulated "
                    + "process cannot have; give it streams")
        }
        loop.shutdown()
    }
}
