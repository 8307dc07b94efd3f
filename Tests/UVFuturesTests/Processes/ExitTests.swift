import Testing

@testable import SystemIO
@testable import UVFutures

struct ExitTests {
    @Test("a status is read as waitpid writes it, and described in a few words")
    func statuses() {
        let exits: [(Int32?, ChildProcess.Exit, String)] = [
            (0, .code(0), "code 0"), (255 << 8, .code(255), "code 255"),
            (9, .signal(.kill, coreDumped: false), "signal 9"),
            (11 | 0x80, .signal(.init(rawValue: 11), coreDumped: true), "signal 11, with a core dump"),
            (nil, .statusTakenByOther, "an unknown status, which other code has collected"),
        ]
        for (status, exit, description) in exits {
            #expect(ChildProcess.Exit(status: status) == exit)
            #expect("\(exit)" == description)
            #expect(exit.isSuccess == (status == 0))
        }
    }
}
