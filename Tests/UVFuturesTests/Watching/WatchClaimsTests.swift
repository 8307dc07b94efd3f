import Foundation
import Futures
import FuturesTesting
import TestSupport
import Testing
import UVFutures

struct WatchClaimsTests {
    /// What is watched.
    private enum Kind: String, CaseIterable, Codable {
        case file, directory, tree

        func watch(_ path: String, on loop: EventLoop) -> Future<FileWatch> {
            switch self {
            case .file: FileWatch.watch(file: path + "/x", on: loop)
            case .directory: FileWatch.watch(directory: path, on: loop)
            case .tree: FileWatch.watch(tree: path, on: loop)
            }
        }
    }

    @Test(
        "watches of one directory that are closed as soon as they have begun give back what they took",
        .disabled(
            if: isSanitized && !isThreadSanitized,
            "It looks for leaks while the threads of the pool let go of the last jobs."),
        arguments: Kind.allCases)
    private func closedAtOnce(kind: Kind) async {
        await #expect(processExitsWith: .success) { [kind] in
            // libuv keeps a pipe for signals from the first loop on.
            try withLoop { _ in }
            let before = openDescriptors()
            try withLoop { loop in
                let directory = TemporaryDirectory()
                for _ in 0..<(isSoaking ? 2000 : 150 / slowShare) {
                    var closed = 0
                    for _ in 0..<8 {
                        kind.watch(directory.path, on: loop).whenComplete { result in
                            closed += 1
                            _ = try? result.get().close()
                        }
                    }
                    try loop.runUntil { closed == 8 }
                }
                try loop.run()
                // The loop goes on, and has no use for any of them.
                #expect(eventually { openDescriptors().count { isInotify($0) } == 0 })
            }
            #expect(eventually { openDescriptors().isSubset(of: before) })
        }
    }
}

private func isInotify(_ descriptor: CInt) -> Bool {
    let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(descriptor)")
    return target?.contains("inotify") == true
}
