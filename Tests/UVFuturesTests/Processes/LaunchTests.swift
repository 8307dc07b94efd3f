import CLibUV
import Foundation
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
            let nul = "a text for true contains a NUL, at which it would end there: \"a\\0b\"; leave it out"
            #expect(refusal { $0.arguments = ["a\0b"] } == nul)
            #expect(refusal { $0.workingDirectory = "a\0b" } == nul)
            #expect(refusal { $0.name = "a\0b" } == nul)
            #expect(refusal { $0.standardInput = .file("a\0b") } == nul)
            #expect(refusal { $0.environment = .only(["A": "a\0b"]) } == nul)
            #expect(
                refusal { $0.environment = .inheriting(with: ["A=B": "x"]) }
                    == "an environment variable cannot be called \"A=B\"; give a name without =")
            #expect(
                refusal { $0.descriptors = [2: 2] }
                    == "descriptor 2 of a child was given among others; give 3 or more, or set its standard streams"
            )
            #expect(
                refusal { $0.standardOutput = .standardOutput }
                    == "the standard output cannot go where it goes itself; give a place")
            #expect(
                refusal {
                    $0.terminal = .init(columns: 80, rows: 24)
                    $0.standardInput = .stream
                }
                    == "true has a terminal as its standard streams; leave them as they are, or leave the terminal out"
            )
            #expect(
                refusal { $0.terminal = .init(columns: 80, rows: 65_536) }
                    == "a window of 80 by 65536 is out of range; give 0 to 65535 of both")
            #expect(refusal { $0.streamLimits.readHighWaterMark = 0 }?.hasPrefix("read water marks") == true)
            #expect(
                refusal { $0.descriptors = [3: 100_000] }
                    == "cannot start true: descriptor 100000 is not open: EBADF, bad file descriptor; open it first, or "
                    + "give the child something else")
        }
    }
}
