import FuturesTesting
import TestSupport
import Testing
import UVFutures

/// Holds the simulated network against the kernel's: random programs, each of which is run over the loopback
/// interface, on a virtual loop, and on the hosts of a world. What becomes of each step has to be the same, and
/// how each connection ends.
///
/// The following may differ, since it differs between two runs on a kernel, too. The programs do not ask for it, or
/// `agreementName(of:)` leaves it out:
///
/// - When something happens, and in which order it is told at different connections.
/// - How bytes are cut into reads and chunks, and so what a `read()` leaves for the next one, and a slow reader that
///   fails with a chunk in its hands for later reads.
/// - How many bytes the system takes while nobody reads: about 208 KiB over UNIX sockets, and over TCP 1 MiB here
///   and up to some megabytes there. How many bytes of a write arrive that was cut short.
/// - What becomes of bytes that are on their way when a connection is reset, and of an end before a reset.
/// - Whether all has been acknowledged when a connection ends: a kernel may wait 40 ms for that.
/// - Which peer is served first among those that come at the same time.
/// - The numbers of ports, and of bytes that an error counts as waiting.
struct KernelAgreementTests: UsesUnixSockets {
    @Test("a simulated network does the same as the kernel's")
    func loopback() throws {
        try Agreement(kind: "network", share: 30, program: AgreementMaker.program) { program, _ in
            var found: String?
            try withDirectory { directory, loop in
                found = try difference(program, "on a real loop", RealStage(directory, loop), in: directory)
            }
            return found
        }.check()
    }

    @Test("hosts of a world do the same as one virtual loop")
    func world() throws {
        try Agreement(kind: "worlds", share: 30, program: AgreementMaker.program) { program, seed in
            let directory = "/tmp/sockets"
            let stage = try WorldStage(directory, seed: seed, peers: program.peers)
            // A read that has not ended captures the stage.
            defer { stage.world.end() }
            return try difference(program, "in a world", stage, in: directory)
        }.check()
    }

    private func difference(
        _ program: AgreementProgram, _ name: String, _ stage: any AgreementStage, in directory: String
    ) throws -> String? {
        let virtual = VirtualStage(directory)
        defer { virtual.loop.shutdown() }
        let expected = try AgreementRun.outcomes(of: program, on: virtual)
        let seen = try AgreementRun.outcomes(of: program, on: stage, expecting: expected)
        let round = seen.count - 1
        guard seen[round] != expected[round] else { return nil }
        return """
            after round \(round), on a virtual loop:
            \(marked(expected[round], unlike: seen[round]))
            \(name):
            \(marked(seen[round], unlike: expected[round]))
            """
    }

    private func marked(_ lines: [String], unlike others: [String]) -> String {
        lines.enumerated().map { index, line in
            (others.indices.contains(index) && others[index] == line ? "  " : "* ") + line
        }.joined(separator: "\n")
    }
}
