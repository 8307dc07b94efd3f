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
}
