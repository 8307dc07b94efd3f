import FoundationEssentials
import Glibc

/// Tells findings as they come: in lines, in lines of JSON, or on a terminal with a line that says how far it is.
struct Report {
    let count: Int
    let asJSON: Bool
    /// Whether standard error is a terminal.
    let showsProgress: Bool
    private(set) var finished = 0
    private(set) var states: [Finding.State: Int] = [:]

    init(count: Int, asJSON: Bool) {
        (self.count, self.asJSON) = (count, asJSON)
        showsProgress = isatty(STDERR_FILENO) == 1
    }

    mutating func add(_ finding: Finding) throws {
        finished += 1
        states[finding.state, default: 0] += 1
        clearProgress()
        if asJSON {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            print(String(decoding: try encoder.encode(finding), as: UTF8.self))
        } else {
            let mark = finding.state == .up ? "up     " : finding.state == .warning ? "warning" : "down   "
            let tries = finding.attempts > 1 ? ", \(finding.attempts) attempts" : ""
            print("\(mark)  \(finding.target)  \(finding.detail) (\(finding.milliseconds) ms\(tries))")
        }
        tellProgress()
        fflush(nil)
    }

    var summary: String {
        "\(states[.up] ?? 0) up, \(states[.warning] ?? 0) with a warning, \(states[.down] ?? 0) down"
    }

    /// 0 if all is well, 1 if something is down, 3 if there are only warnings.
    var exitCode: CInt { states[.down] != nil ? 1 : states[.warning] != nil ? 3 : 0 }

    private func clearProgress() {
        if showsProgress { sayOnStandardError("\r\u{1B}[K") }
    }

    private func tellProgress() {
        if showsProgress, finished < count { sayOnStandardError("\(finished) of \(count): \(summary)") }
    }
}

func sayOnStandardError(_ text: String) {
    let bytes = Array(text.utf8)
    _ = write(STDERR_FILENO, bytes, bytes.count)
}
