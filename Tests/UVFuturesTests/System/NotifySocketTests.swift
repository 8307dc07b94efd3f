import Glibc
import Testing
import UVFutures

struct NotifySocketTests {
    @Test("a manager that cannot be told is an error that says why")
    func refusesManager() async {
        await #expect(processExitsWith: .success) {
            unsafe setenv("NOTIFY_SOCKET", "@nobody-\(getpid())", 1)
            let gone = #expect(throws: SystemError.self) { try Systemd.notify(.ready) }
            #expect(gone?.code == .connectionRefused)
            #expect(gone.map { "\($0)" } == "notify ECONNREFUSED: connection refused")
            let cases = [
                "relative":
                    "NOTIFY_SOCKET is \"relative\", which is neither an absolute path nor @ followed by a name",
                "": "NOTIFY_SOCKET is \"\", which is neither an absolute path nor @ followed by a name",
                "/": "NOTIFY_SOCKET is \"/\", which is neither an absolute path nor @ followed by a name",
                "@": "NOTIFY_SOCKET is \"@\", which is neither an absolute path nor @ followed by a name",
                "/" + String(repeating: "a", count: 107):
                    "NOTIFY_SOCKET has 108 bytes, but the system allows 107: \"/\(String(repeating: "a", count: 107))\"",
            ]
            for (name, sentence) in cases {
                unsafe setenv("NOTIFY_SOCKET", name, 1)
                #expect(throws: FutureError.invalidArgument(sentence)) { try Systemd.notify(.ready) }
            }
            let longest = "/" + String(repeating: "a", count: 106)
            for (name, code) in [("@\u{1}", SystemError.Code.connectionRefused), (longest, .notFound)] {
                unsafe setenv("NOTIFY_SOCKET", name, 1)
                #expect(throws: SystemError(code, "notify")) { try Systemd.notify(.ready) }
            }
            for text in ["0", "-1", "soon", "99999999999999999999"] {
                unsafe setenv("WATCHDOG_USEC", text, 1)
                #expect(
                    throws: FutureError.invalidArgument(
                        "WATCHDOG_USEC must be a number above zero, not \"\(text)\"")
                ) {
                    try Systemd.watchdogInterval
                }
            }
            unsafe setenv("WATCHDOG_USEC", "1", 1)
            let shortest = try Systemd.watchdogInterval
            #expect(shortest == .microseconds(1))
        }
    }

    @Test("a program without a standard input tells its manager all the same")
    func withoutInput() async {
        await #expect(processExitsWith: .success) {
            unsafe setenv("NOTIFY_SOCKET", "@nobody-\(getpid())", 1)
            close(0)
            // Nobody listens, which a socket has found out.
            #expect(throws: SystemError(.connectionRefused, "notify")) { try Systemd.notify(.ready) }
            #expect(!isOpen(0))
        }
    }
}
