import Foundation
import FuturesTesting
import Glibc
import TestSupport
import Testing
import UVFutures

/// Holds simulated disks against a file system of the kernel: random programs, each of which is run in a temporary
/// directory and on a virtual loop. What becomes of each step has to be the same, to the texts of errors, and all that
/// is there at the end.
///
/// The following may differ, since file systems of the kernel differ in it, too, or since it has no order:
///
/// - The sizes of directories, the space that files take on the disk, and when a file was last read.
/// - The number of links of a directory, where the file system of the kernel counts none, and the times, where it gives
///   the same one to two changes.
/// - The order of entries, and so what comes before an error.
/// - The largest size of a file. A simulation has that of ext4, and elsewhere nothing is written near it.
struct FileAgreementTests {
    @Test("a simulated disk does the same as a file system of the kernel")
    func agrees() throws {
        try withDirectory { loop, _, path in
            let traits = try FileTraits(of: path, on: loop)
            try Agreement(kind: "files", share: 100) { seed in
                FileMaker.program(seed: seed, isRoot: geteuid() == 0, hasLargestSize: traits.hasLargestSize)
            } difference: { program, _ in
                try difference(program, path, loop, traits)
            }.check()
        }
    }

    /// Runs the program in both places. Returns the first lines that are not the same.
    private func difference(
        _ program: FileProgram, _ path: String, _ loop: EventLoop, _ traits: FileTraits
    ) throws -> String? {
        let path = path + "/root"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(atPath: path) }
        let real = try FileRun.outcomes(of: program, in: path, on: loop, traits) {}
        let virtual = EventLoop.virtual()
        defer { virtual.shutdown() }
        virtual.simulatedDisk.makeDirectory(path)
        let simulated = try FileRun.outcomes(of: program, in: path, on: virtual, traits) {
            virtual.advance(by: .milliseconds(1))
        }
        guard let line = zip(real, simulated).first(where: { $0 != $1 }) else {
            return real.count == simulated.count ? nil : "\(real)\n\(simulated)"
        }
        return "kernel:    \(line.0.shortened)\nsimulated: \(line.1.shortened)"
    }
}
