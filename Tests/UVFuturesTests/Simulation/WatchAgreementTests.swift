import TestSupport
import Testing
import UVFutures

/// Watches the files of random programs in both places of `FileAgreementTests`: what is told has to be the same after
/// each step. The kernel tells a step before it ends.
///
/// The following may differ, since it has no order:
///
/// - Which of two watches is told of a change first. Each is told its own events in their order.
/// - What a watch that looks for itself tells of a step of several calls of the system, since it may look between them.
/// - What a watch tells of two renames within two milliseconds, which may be an exchange of two files. So there are none.
/// - When a removed directory has come to its end, since a thread of the pool may have yet to close it.
/// - The number in the name of a file that never had one.
///
/// A simulated disk has no mounts, exchanges no names, and no watch of a file itself, which only mounted ones have.
struct WatchAgreementTests {
    @Test("a simulated disk tells the events that the kernel tells")
    func events() throws {
        try check("file events", share: 30, byOneCall: false) { try EventWatches($0, $1) }
    }

    @Test("watches of a simulated disk tell the changes that they tell on one of the kernel")
    func changes() throws { try check("file changes", share: 4, byOneCall: true) { try PathWatches($0, $1) } }

    private func check(
        _ kind: String, share: Int, byOneCall: Bool,
        _ watches: @escaping (String, EventLoop) throws -> any RunWatches
    ) throws {
        try withDirectory { loop, _, path in
            let places = try FilePlaces(below: path, on: loop, watchedBy: watches)
            try Agreement(kind: kind, share: share) { seed in
                FileMaker.changes(seed: seed, byOneCall: byOneCall, places.traits)
            } difference: { program, _ in
                try places.difference(program)
            }.check()
        }
    }
}
