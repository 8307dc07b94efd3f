import Foundation
import FuturesTesting
import UVFutures

/// The two places where a program of files is run: a directory of the kernel, and a simulated disk.
struct FilePlaces {
    private let path: String
    private let loop: EventLoop
    let traits: FileTraits
    /// What watches the files of each run.
    private let watches: (String, EventLoop) throws -> any RunWatches

    init(
        below path: String, on loop: EventLoop,
        watchedBy watches: @escaping (String, EventLoop) throws -> any RunWatches = { _, _ in NoWatches() }
    ) throws {
        (self.path, self.loop, self.watches) = (path + "/root", loop, watches)
        traits = try FileTraits(of: path, on: loop)
    }

    /// Returns the first lines that differ. `nil` if none do.
    func difference(_ program: FileProgram) throws -> String? {
        let virtual = EventLoop.virtual()
        defer { virtual.shutdown() }
        virtual.simulatedDisk.makeDirectory(path)
        let simulated = try FileRun.outcomes(
            of: program, in: path, on: virtual, traits, watches(path, virtual)
        ) {
            virtual.advance(by: .milliseconds(1))
        }
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(atPath: path) }
        let real = try FileRun.outcomes(
            of: program, in: path, on: loop, traits, watches(path, loop), expecting: simulated
        ) {}
        guard let line = zip(real, simulated).first(where: { $0 != $1 }) else {
            return real.count == simulated.count ? nil : "\(real)\n\(simulated)"
        }
        return "kernel:    \(line.0.shortened)\nsimulated: \(line.1.shortened)"
    }
}

/// What is told of the files of a run.
protocol RunWatches {
    /// Returns what has been told since the last call: of `action`, or of the end. Where that comes later, waits for it
    /// to be `expected`.
    func told(of action: FileProgram.Action?, expecting expected: String?) throws -> String
    func close() throws
}

struct NoWatches: RunWatches {
    func told(of action: FileProgram.Action?, expecting expected: String?) -> String { "" }
    func close() {}
}
