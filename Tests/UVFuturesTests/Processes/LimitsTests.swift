import CFuturesSystem
import CLibUV
import Foundation
import Glibc
import Testing
import UVFutures

struct LimitsTests {
    @Test("limits hold for the program, and one that cannot be had is named")
    func limits() throws {
        try withLoop { loop throws in
            var configuration = shell("ulimit -Sn; ulimit -Hn; ulimit -c; ulimit -f")
            configuration.limits = [
                .openFiles: .init(soft: 64, hard: 100), .coreSize: .init(0), .fileSize: .init(1 << 20),
            ]
            #expect(try loop.lines(of: configuration) == ["64", "100", "0", "2048"])
            // Killed before it has run a line of its own.
            var tiny = ChildProcess.Configuration("true")
            tiny.limits[.addressSpace] = .init(4096)
            let exit = try loop.exit(of: tiny)
            guard case .signal = exit else {
                Issue.record("\(exit)")
                return
            }
            var processor = shell("while :; do :; done")
            processor.limits[.processorTime] = .init(1)
            #expect(try loop.exit(of: processor) == .signal(.kill, coreDumped: false))
            configuration.limits = [.openFiles: .init(soft: 2, hard: 1)]
            #expect(
                complaint { _ = try ChildProcess.start(configuration, on: loop) }
                    == "the soft limit of openFiles, 2, is above its hard limit, 1; give a lower soft limit")
            configuration.limits = [.openFiles: .unlimited]
            #expect(
                complaint { _ = try ChildProcess.start(configuration, on: loop) }
                    == "cannot start /bin/sh: its limit of openFiles cannot be set: EPERM, operation not permitted; ask for "
                    + "less, or run with more rights")
            configuration.limits = [:]
            configuration.descriptors = [1_000_000_000: 0]
            #expect(
                complaint { _ = try ChildProcess.start(configuration, on: loop) }?
                    .hasPrefix("cannot start /bin/sh: descriptor 0 cannot be passed on: EINVAL") == true)
        }
    }

    @Test("each resource is the one that the kernel calls so")
    func resources() throws {
        let resources: [(ChildProcess.Resource, String, UInt64)] = [
            (.processorTime, "cpu time", 100), (.fileSize, "file size", 1 << 20),
            (.data, "data size", 1 << 30), (.stack, "stack size", 1 << 20), (.coreSize, "core file size", 0),
            (.processes, "processes", 500), (.openFiles, "open files", 64),
            (.lockedMemory, "locked memory", 4096), (.addressSpace, "address space", 1 << 31),
        ]
        #expect(Set(resources.map(\.0)) == Set(ChildProcess.Resource.allCases))
        try withLoop { loop throws in
            var cat = ChildProcess.Configuration("cat", "/proc/self/limits")
            for (resource, _, limit) in resources {
                cat.limits[resource] = .init(soft: limit, hard: limit * 2)
            }
            let lines = try loop.lines(of: cat)
            for (_, name, limit) in resources {
                let line = try #require(lines.first { $0.hasPrefix("Max \(name) ") })
                let numbers = line.split(separator: " ").compactMap { UInt64($0) }
                #expect(numbers == [limit, limit * 2], "\(name)")
            }
        }
    }
}
