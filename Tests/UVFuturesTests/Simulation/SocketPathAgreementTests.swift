import Foundation
import FuturesTesting
import TestSupport
import Testing
import UVFutures

/// Holds the paths of sockets on simulated disks against the kernel's: random programs of sockets of the UNIX domain and of
/// what happens to their files, each of which is run in a temporary directory and on a virtual loop. What becomes of each
/// step has to be the same, and the files that are there after it.
///
/// Left out is what a simulation does not have, or what is not determined:
///
/// - Who may connect by the permissions of a path. A simulated disk refuses nobody by them.
/// - How many datagrams wait at most for a reader: that is a setting of the kernel, 10 by default.
struct SocketPathAgreementTests {
    @Test("sockets are files of a simulated disk, as they are of the kernel's")
    func paths() throws {
        try withDirectory { loop, _, path in
            let traits = try FileTraits(of: path, on: loop)
            let prefix = (path + "/root" + "/").utf8.count
            try Agreement(kind: "socket paths", share: 40) { seed in
                SocketPathMaker.program(seed: seed, prefix: prefix)
            } difference: { program, _ in
                try difference(program, path, loop, traits)
            }.check()
        }
    }

    /// Returns what differs. `nil` if nothing does.
    private func difference(
        _ program: SocketPathProgram, _ path: String, _ loop: EventLoop, _ traits: FileTraits
    ) throws -> String? {
        let path = path + "/root"
        let virtual = EventLoop.virtual()
        defer { virtual.shutdown() }
        virtual.simulatedDisk.makeDirectory(path)
        let simulated = try SocketPathRun.outcomes(of: program, in: path, on: virtual, traits) { _, _ in
            virtual.advance(by: .milliseconds(1))
            return true
        }
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(atPath: path) }
        let real = try SocketPathRun.outcomes(of: program, in: path, on: loop, traits) { round, lines in
            // Nothing but what was expected is seen in some turns after that.
            var calm = 0
            for turn in 0..<100 {
                try loop.run(until: loop.sleep(for: turn < 20 ? .zero : .milliseconds(1)))
                calm = simulated[round].starts(with: lines()) ? calm + 1 : 0
                if calm == 3 { return true }
            }
            return false
        }
        let round = real.count - 1
        guard real[round] != simulated[round] else { return nil }
        return "simulated:\n  \(simulated[round].joined(separator: "\n  "))\n"
            + "by the kernel:\n  \(real[round].joined(separator: "\n  "))"
    }
}
