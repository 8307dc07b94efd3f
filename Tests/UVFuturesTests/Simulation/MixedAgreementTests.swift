import Foundation
import Glibc
import TestSupport
import Testing
import UVFutures

@testable import FuturesTesting

/// Holds sockets and files that a program has at the same time against the kernel's, also when there are no more descriptors
/// for them: random programs, each of which is run in a temporary directory and on a virtual loop. What becomes of each step
/// has to be the same, and the files that are there at the end.
///
/// What `AddressAgreementTests`, `SocketPathAgreementTests` and `FileAgreementTests` leave out is left out here. As the limit
/// of descriptors is one of the process, a process of its own runs them.
struct MixedAgreementTests {
    @Test(
        "sockets and files of a simulation share descriptors, as they do in the system",
        // A sanitizer opens files of its own.
        .enabled(if: !isSanitized))
    func mixtures() async {
        await #expect(processExitsWith: .success) {
            try withDirectory { loop, _, path in
                let traits = try FileTraits(of: path, on: loop)
                try openWhatLoopsKeep(loop)
                let prefix = (path + "/root" + "/").utf8.count
                try Agreement(kind: "mixtures", share: 20) { seed in
                    MixedProgram.random(seed: seed, prefix: prefix, traits)
                } difference: { program, _ in
                    try difference(program, path + "/root", loop, traits)
                }.check()
            }
        }
    }
}

/// Has the loop open the set in which it watches for hang-ups, which it keeps: below a limit of descriptors it would open it later.
private func openWhatLoopsKeep(_ loop: EventLoop) throws {
    let listener = try TCPListener(host: "127.0.0.1", port: 0, on: loop)
    let client = try loop.run(
        until: TCPConnection.connect(host: "127.0.0.1", port: listener.localAddress.port, on: loop))
    try loop.run(until: loop.sleep(for: .milliseconds(1)))
    client.abort()
    try loop.run(until: listener.close())
}

/// Returns what differs. `nil` if nothing does.
private func difference(
    _ program: MixedProgram, _ path: String, _ loop: EventLoop, _ traits: FileTraits
) throws -> String? {
    let simulated = try simulated(program, path, traits)
    // A listener that gets no descriptor asks again after 100 ms. In a world that time does not pass, so a run of the kernel
    // says nothing of a round that begins as late, and another run is made.
    for _ in 0..<10 {
        let (real, began) = try real(program, path, loop, traits, simulated)
        let round = real.count - 1
        guard real[round] != simulated[round] else { return nil }
        guard began < .milliseconds(80) else { continue }
        return """
            in a world, after round \(round):
              \(simulated[round].joined(separator: "\n  "))
            by the kernel:
              \(real[round].joined(separator: "\n  "))
            """.shortened
    }
    return nil
}

private func simulated(
    _ program: MixedProgram, _ path: String, _ traits: FileTraits
) throws -> [[String]] {
    let loop = EventLoop.virtual()
    defer { loop.shutdown() }
    loop.simulatedDisk.makeDirectory(path)
    let host = SimulatedDescriptors(loop.simulatedHost("descriptors"))
    return try MixedRun.outcomes(of: program, in: path, on: loop, traits, host) { _, _ in
        loop.advance(by: .milliseconds(1))
        return true
    }
}

/// Returns what has become of each step after each round, and the time after which the last round began.
private func real(
    _ program: MixedProgram, _ path: String, _ loop: EventLoop, _ traits: FileTraits, _ expected: [[String]]
) throws -> ([[String]], Duration) {
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    defer { try? FileManager.default.removeItem(atPath: path) }
    let start = ContinuousClock.now
    var began = Duration.zero
    let outcomes = try MixedRun.outcomes(of: program, in: path, on: loop, traits, SystemDescriptors()) {
        round, lines in
        began = ContinuousClock.now - start
        // Nothing but what was expected is seen in some turns after that.
        var calm = 0
        for turn in 0..<100 {
            try loop.run(until: loop.sleep(for: turn < 20 ? .zero : .milliseconds(1)))
            calm = lines() == expected[round] ? calm + 1 : 0
            if calm == 3 { return true }
        }
        return false
    }
    return (outcomes, began)
}

private final class SimulatedDescriptors: Descriptors {
    private let host: SimulatedHost
    var count: Int { host.descriptorCount }

    init(_ host: SimulatedHost) { self.host = host }

    func limit(_ count: Int?) { host.maxDescriptors = count.map { host.descriptorCount + $0 } ?? .max }
}

/// Those of this process. With a limit, all numbers below those that are free are in use, so that each one that is closed can
/// be taken again.
private final class SystemDescriptors: Descriptors {
    private var taken: [CInt] = []
    private let usual: rlimit
    private var open: [CInt] { (0..<200).filter { fcntl($0, F_GETFD) >= 0 } }
    var count: Int { open.count - taken.count }

    init() {
        var usual = rlimit()
        unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &usual)
        self.usual = usual
    }

    func limit(_ count: Int?) {
        set(usual.rlim_cur)
        for number in taken { close(number) }
        taken = []
        guard let count else { return }
        let open = open
        for number in 0..<open.last! where !open.contains(number) {
            taken.append(fcntl(0, F_DUPFD_CLOEXEC, number))
        }
        set(rlim_t(Int(open.last!) + 1 + count))
    }

    private func set(_ count: rlim_t) {
        var limit = usual
        limit.rlim_cur = count
        unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }
}
