import FuturesTesting
import TestSupport
import Testing
import UVFutures

/// Holds the processes of a host against the kernel's: random programs of a parent and its child, which is a shell there and a
/// closure here. How the child ends, what its parent reads and writes, and what signals do has to be the same.
///
/// Left out is what a closure is not: a child that writes to a closed pipe, which ends by SIGPIPE only in C; groups, files and
/// descriptors of a child; and the image of its memory. A closure that is stopped goes on, so nothing is sent to it then.
struct ChildAgreementTests {
    @Test("a child of a simulated host behaves as one of the system")
    func children() throws {
        let loop = try EventLoop()
        defer { loop.shutdown() }
        try Agreement(kind: "children", share: 4, program: ChildProgram.random) { program, seed in
            let simulated = try simulated(program, seed)
            let real = try real(program, loop, simulated)
            let round = real.count - 1
            guard real[round] != simulated[round] else { return nil }
            return "in a world:\n  \(simulated[round])\nby the kernel:\n  \(real[round])"
        }.check()
    }

    private func simulated(_ program: ChildProgram, _ seed: UInt64) throws -> [[String]] {
        let world = World(seed: seed)
        defer { world.end() }
        let host = try world.addHost("host")
        host.programs["child"] = program.run
        return try ChildRun.outcomes(of: program, .init("child"), on: host.loop) { _, _ in
            try world.run(for: .milliseconds(100))
            return true
        }
    }

    private func real(_ program: ChildProgram, _ loop: EventLoop, _ expected: [[String]]) throws -> [[String]]
    {
        try ChildRun.outcomes(of: program, .init("sh", "-c", program.script), on: loop) { round, seen in
            // Nothing but what was expected is seen for a while after that.
            var calm = 0
            for _ in 0..<3000 {
                try loop.run(until: loop.sleep(for: .milliseconds(1)))
                calm = seen() == expected[round] ? calm + 1 : 0
                if calm == 5 { return true }
            }
            return false
        }
    }
}
