import CHeap
import FuturesTesting
import Glibc
import TestSupport
import Testing

@testable import SystemIO
@testable import UVFutures

/// Holds the addresses and ports of a world against the kernel's: random programs of sockets, each of which is run over the
/// loopback interface and on a host of a world. What becomes of each step has to be the same: the addresses of both ends,
/// what is refused and with which words, what arrives, and what stays pending.
///
/// Left out is what a world does not have, or what is not determined:
///
/// - A connection from a port to itself. The kernel connects a socket to itself, which no program wants.
/// - Which of several sockets that share a port has what comes.
/// - How much a receive buffer holds. It depends on the version of the kernel.
/// - With which word a datagram is refused that would come from an address of nobody. That depends on it, too.
/// - The time after which a system forgets a connection. Nothing here takes a second.
struct AddressAgreementTests {
    @Test("addresses and ports in a world are those of the kernel")
    func addresses() throws {
        let failure = try onThread(stackSize: 1 << 23) {
            let loop = try EventLoop()
            defer { loop.shutdown() }
            let isRoot = geteuid() == 0
            var count = 0
            return try Agreement(kind: "addresses", share: isRoot ? 750 : 75, program: AddressMaker.program) {
                // A port that another program used, which ended a moment ago, may not be had. So this thread gets a
                // network of its own, and now and then a new one, if it may have any.
                if isRoot, count % 50 == 0, unshare_network() != 0 { throw SystemError(-errno, "unshare") }
                count += 1
                return try difference($0, $1, loop)
            }.failure()
        }
        if let failure { Issue.record("\(failure)") }
    }

    /// Returns what differs. `nil` if nothing does.
    private func difference(_ program: AddressProgram, _ seed: UInt64, _ loop: EventLoop) throws -> String? {
        let simulated = try simulated(program, seed)
        let real = try real(program, loop, simulated)
        let round = real.count - 1
        guard real[round] != simulated[round] else { return nil }
        return "in a world:\n  \(simulated[round].joined(separator: "\n  "))\n"
            + "by the kernel:\n  \(real[round].joined(separator: "\n  "))"
    }

    private func simulated(_ program: AddressProgram, _ seed: UInt64) throws -> [[String]] {
        let world = World(seed: seed)
        defer { world.end() }
        let host = try world.addHost("host")
        return try AddressRun.outcomes(of: program, on: host.loop) { _, _ in
            try world.run(for: .milliseconds(1))
            return true
        }
    }

    private func real(
        _ program: AddressProgram, _ loop: EventLoop, _ expected: [[String]]
    ) throws -> [[String]] {
        try AddressRun.outcomes(of: program, on: loop) { round, lines in
            // Nothing but what was expected is seen in some turns after that.
            var calm = 0
            for turn in 0..<100 {
                try loop.run(until: loop.sleep(for: turn < 20 ? .zero : .milliseconds(1)))
                calm = lines() == expected[round] ? calm + 1 : 0
                if calm == 3 { return true }
            }
            return false
        }
    }
}
