import CFuturesSystem
import CLibUV
import Foundation
import FuturesTesting
import Glibc
import Testing
import UVFutures

struct LaunchTests {
    @Test("what makes no sense is refused before anything is started")
    func nonsense() throws {
        try withLoop { loop throws in
            func refusal(
                _ program: String = "true", _ change: (inout ChildProcess.Configuration) -> Void = { _ in }
            ) -> String? {
                var configuration = ChildProcess.Configuration(program)
                change(&configuration)
                return complaint { _ = try ChildProcess.start(configuration, on: loop) }
            }
            #expect(refusal("") == "the program has no name; give its path, or its name in PATH")
            let nul = "a text for true contains a NUL, which would cut it off: \"a\\0b\"; leave it out"
            #expect(refusal { $0.arguments = ["a\0b"] } == nul)
            #expect(refusal { $0.workingDirectory = "a\0b" } == nul)
            #expect(refusal { $0.name = "a\0b" } == nul)
            #expect(refusal { $0.standardInput = .file("a\0b") } == nul)
            #expect(refusal { $0.environment = .only(["A": "a\0b"]) } == nul)
            #expect(refusal { $0.environment = .only(["a\0b": ""]) } == nul)
            #expect(
                refusal { $0.environment = .only(["": "x"]) }
                    == "an environment variable cannot be called \"\"; give a name without =")
            #expect(
                refusal { $0.environment = .inheriting(with: ["A=B": "x"]) }
                    == "an environment variable cannot be called \"A=B\"; give a name without =")
            #expect(
                refusal { $0.descriptors = [2: 2] }
                    == "descriptors has the key 2; give keys of 3 or more, and set standardInput, "
                    + "standardOutput and standardError for 0 to 2"
            )
            #expect(
                refusal { $0.standardOutput = .standardOutput }
                    == "standardOutput was set to .standardOutput, which is itself; give another place")
            #expect(
                refusal {
                    $0.terminal = .init(columns: 80, rows: 24)
                    $0.standardInput = .stream
                }
                    == "the standard streams of true are its terminal; leave either the streams or the "
                    + "terminal unset"
            )
            #expect(
                refusal { $0.terminal = .init(columns: 80, rows: 65_536) }
                    == "a window of 80 by 65536 is out of range; give 0 to 65535 for both")
            #expect(
                refusal { $0.streamLimits.readHighWaterMark = 0 }?.hasPrefix("readHighWaterMark must be")
                    == true)
            #expect(
                refusal { $0.descriptors = [3: 100_000] }
                    == "cannot start true: descriptor 100000 is not open: EBADF, bad file descriptor; open it first, or "
                    + "give the child something else")
        }
    }

    @Test(
        "a number that means to the system that nothing is to change, or is cut off, is refused before the start"
    )
    func numbers() throws {
        try withLoop { loop throws in
            func user(_ id: UInt32, _ group: UInt32, _ groups: [UInt32] = []) -> ChildProcess.User {
                .init(id: id, group: group, supplementaryGroups: groups)
            }
            let advice =
                "of true means “no change” to the system, so the program would keep the one of this "
                + "process; give 0 to 4294967294"
            for (text, change) in [
                ("user 4294967295 \(advice)", { $0.user = user(.max, 1) }),
                ("group 4294967295 \(advice)", { $0.user = user(1, .max) }),
                ("group 4294967295 \(advice)", { $0.user = user(1, 1, [2, .max]) }),
                (
                    "65537 supplementary groups of true are too many; give at most 65536",
                    { $0.user = user(1, 1, Array(repeating: 2, count: 65_537)) }
                ),
                (
                    "fileMask must be from 0o000 to 0o777, not 0o1000",
                    { $0.fileMask = 0o1000 }
                ),
                (
                    "fileMask must be from 0o000 to 0o777, not 0o37777777777",
                    { $0.fileMask = .max }
                ),
            ] as [(String, (inout ChildProcess.Configuration) -> Void)] {
                var configuration = ChildProcess.Configuration("true")
                change(&configuration)
                #expect(complaint { _ = try ChildProcess.start(configuration, on: loop) } == text)
            }
        }
    }

    @Test("the highest numbers that are allowed are taken")
    func highest() throws {
        try withLoop(.virtual) { loop throws in
            loop.simulatedPrograms["true"] = { _ in loop.succeeded(0) }
            var configuration = ChildProcess.Configuration("true")
            configuration.user = .init(
                id: .max - 1, group: .max - 1, supplementaryGroups: Array(repeating: .max - 1, count: 65_536))
            configuration.fileMask = 0o777
            configuration.limits = [.openFiles: .init(soft: 7, hard: 7)]
            #expect(try loop.exit(of: configuration).isSuccess)
            configuration.terminal = .init(columns: 65_535, rows: 65_535)
            let text = complaint { _ = try ChildProcess.start(configuration, on: loop) }
            #expect(text?.contains("out of range") != true)
        }
    }
}
