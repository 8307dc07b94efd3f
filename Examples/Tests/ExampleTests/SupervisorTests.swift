import Foundation
import FuturesTesting
import Testing
import UVFutures

@testable import Supervisor

/// The supervisor's own sources on a simulated host: its programs are closures, and its files are on the host's disk.
struct SupervisorTests {
    private func withSupervisor(
        _ configuration: String, _ arguments: String...,
        body: (World, SimulatedHost, Future<Void>) throws -> Void
    ) throws {
        let world = World(seed: 1)
        defer { world.end() }
        let command = try Supervisor.parse(
            ["/etc/programs", "--log", "/var/log", "--control", "/run/control"] + arguments)
        var end: Future<Void>?
        let host = try world.addHost("a")
        host.disk.write("/etc/programs", configuration)
        host.disk.makeDirectory("/var")
        // Says a line, and then waits for the request to end.
        host.programs["loud"] = { process in
            process.standardOutput.write("\(process.arguments.dropFirst().joined(separator: " "))\n")
                .flatMap { process.signal(.terminate) }.map { 0 }
        }
        host.programs["fails"] = { process in process.loop.succeeded(1) }
        end = command.supervise(on: host.loop)
        try body(world, host, end!)
    }

    private func ask(_ question: String, _ world: World, _ host: SimulatedHost) throws -> [String] {
        let answer = UnixConnection.connect(path: "/run/control", on: host.loop).flatMap { connection in
            connection.write("\(question)\n")
            connection.shutdownWrite()
            return connection.readToEnd().always { connection.close() }
        }
        let text = String(decoding: try world.run(until: answer), as: UTF8.self)
        return text.split(separator: "\n").map { String($0.replacing(/process \d+/, with: "process N")) }
    }

    private func log(_ host: SimulatedHost, _ name: String = "/var/log") -> [String] {
        String(decoding: host.disk.contents(of: name) ?? Data(), as: UTF8.self).split(separator: "\n")
            .map(String.init)
    }

    @Test("programs run, their lines have their names, and a signal ends all of them")
    func runs() throws {
        try withSupervisor("# two\na loud one\n\nb loud two words\n") { world, host, end in
            try world.run(for: .seconds(1))
            #expect(log(host).contains("a: one") && log(host).contains("b: two words"))
            #expect(try ask("status", world, host) == ["a runs as process N", "b runs as process N"])
            host.send(.terminate)
            try world.run(until: end)
            #expect(
                log(host).suffix(2) == ["supervisor: b ended with code 0", "supervisor: a ended with code 0"])
            #expect(throws: SystemError.self) { try ask("status", world, host) }
        }
    }

    @Test("a change of the file, and a signal, begin and end programs, and let the others run on")
    func reloads() throws {
        try withSupervisor("a loud one\nb loud two\n") { world, host, end in
            try world.run(for: .seconds(1))
            host.disk.write("/etc/new", "a loud one\nb loud changed\nc loud three\n")
            host.disk.rename("/etc/new", to: "/etc/programs")
            try world.run(for: .seconds(1))
            #expect(try ask("status", world, host).map { $0.prefix(1) } == ["a", "b", "c"])
            #expect(log(host).filter { $0.hasPrefix("a: ") } == ["a: one"])
            #expect(log(host).filter { $0.hasPrefix("b: ") } == ["b: two", "b: changed"])
            host.disk.write("/etc/programs", "c loud three\n")
            try world.run(for: .seconds(1))
            #expect(try ask("status", world, host) == ["c runs as process N"])
            // A mistake changes nothing.
            host.disk.write("/etc/programs", "c\n")
            try world.run(for: .seconds(1))
            #expect(try ask("status", world, host) == ["c runs as process N"])
            let complaint = "c has no program, or two; write a line with its name and its program"
            #expect(log(host).last == "supervisor: \(complaint)")
            // A program that there is not does not keep the others from running.
            host.disk.write("/etc/programs", "c loud three\nd none\n")
            try world.run(for: .seconds(1))
            #expect(log(host).last!.contains("ENOENT"))
            // When there is one, a signal is enough.
            host.programs["none"] = host.programs["loud"]
            try world.run(for: .seconds(1))
            #expect(try ask("status", world, host) == ["c runs as process N"])
            host.send(.hangup)
            try world.run(for: .seconds(1))
            #expect(try ask("status", world, host) == ["c runs as process N", "d runs as process N"])
            host.send(.terminate)
            try world.run(until: end)
        }
    }

    @Test("a program is restarted when it is asked for, and when it fails, until it fails too often")
    func restarts() throws {
        try withSupervisor("a loud one\nb fails\n") { world, host, end in
            try world.run(for: .seconds(1))
            #expect(try ask("restart a", world, host) == ["a runs as process N"])
            #expect(try ask("restart none", world, host) == ["there is no program called none; add it first"])
            #expect(
                try ask("what", world, host) == ["ask for status, or start NAME, stop NAME or restart NAME"])
            #expect(try ask("stop a", world, host) == ["a is over"])
            #expect(try ask("status", world, host).first == "a is over")
            #expect(try ask("start a", world, host) == ["a runs as process N"])
            #expect(try ask("stop none", world, host) == ["there is no program called none; add it first"])
            try world.run(for: .seconds(60))
            #expect(log(host).contains("supervisor: b is given up after 5 restarts"))
            #expect(log(host).filter { $0 == "a: one" }.count == 3)
            #expect(try ask("status", world, host) == ["a runs as process N", "b is over"])
            host.send(.terminate)
            try world.run(until: end)
        }
    }

    @Test("a log that is full becomes another file, and no line is lost")
    func rotates() throws {
        try withSupervisor("a talks\n", "--log-size", "500") { world, host, end in
            host.programs["talks"] = { process in
                process.loop.forEach(1...60) { number in
                    process.standardOutput.write("line \(number)\n").flatMap {
                        process.loop.sleep(for: .milliseconds(10))
                    }
                }
                .flatMap { process.signal(.terminate) }.map { 0 }
            }
            try world.run(for: .seconds(5))
            let (old, new) = (log(host, "/var/log.1"), log(host))
            #expect(host.disk.contents(of: "/var/log.1")!.count <= 500)
            let lines = (old + new).filter { $0.hasPrefix("a: ") }
            #expect(lines == (1...60).map { "a: line \($0)" })
            host.send(.terminate)
            try world.run(until: end)
        }
    }

    @Test("what cannot be run is refused with a sentence, and leaves no program")
    func refused() throws {
        for (text, control, complaint) in [
            ("a\n", "/run/a", "a has no program, or two; write a line with its name and its program"),
            (
                "a loud\na loud\n", "/run/a",
                "a has no program, or two; write a line with its name and its program"
            ),
            ("a loud\nb none\n", "/run/a", "cannot start none: it cannot be executed"),
            ("a loud\n", "/none/a", "listen ENOENT unix:/none/a: no such file or directory"),
        ] {
            try withSupervisor(text, "--control", control) { world, host, end in
                var said = ""
                do { try world.run(until: end) } catch { said = "\(error)" }
                #expect(said.contains(complaint))
                try world.run(for: .seconds(1))
                #expect(!host.loop.dump().contains("process"))
            }
        }
    }
}
