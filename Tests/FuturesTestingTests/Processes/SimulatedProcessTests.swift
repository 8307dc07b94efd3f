import Foundation
import Futures
import FuturesTesting
import Testing
import UVFutures

struct SimulatedProcessTests {
    @Test("a closure is a program: it has arguments, variables, streams, and its future says how it ends")
    func closure() throws {
        let loop = EventLoop.virtual()
        loop.simulatedPrograms["greet"] = { process in
            #expect(process.arguments == ["/usr/bin/greet", "a"])
            #expect(process.environment == ["NAME": "x=y", "EMPTY": ""])
            #expect(process.workingDirectory == "/tmp")
            return process.standardInput.readToEnd().flatMap { input in
                process.standardOutput.write(Data("hello ".utf8) + input)
                process.standardError.write("error")
                return loop.succeeded(3, after: .seconds(5))
            }
        }
        var configuration = ChildProcess.Configuration("/usr/bin/greet", "a")
        configuration.environment = .only(["NAME": "x=y", "EMPTY": ""])
        configuration.workingDirectory = "/tmp"
        let start = loop.now
        let outcome = try loop.run(until: ChildProcess.run(configuration, input: Data("you".utf8), on: loop))
        #expect(outcome.exit == .code(3))
        #expect(
            outcome.standardOutput == Data("hello you".utf8) && outcome.standardError == Data("error".utf8))
        #expect(start.duration(to: loop.now) == .seconds(5))
        loop.shutdown()
        #expect(loop.statistics.handles == 0)
    }
}
