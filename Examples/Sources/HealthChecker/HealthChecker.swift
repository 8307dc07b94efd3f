import ArgumentParser
import ExampleSupport
import FoundationEssentials
import Glibc
import TLSStreams
import UVFutures

/// Checks hundreds of hosts at a time: TCP, UDP, TLS and HTTP.
///
/// It shows a limit of concurrency, time-outs, retries with jitter, names, and encrypted connections.
@main
struct HealthChecker: OneLineCommand {
    static let configuration = CommandConfiguration(
        abstract: "Checks whether hosts answer, and how long their certificates are valid.",
        discussion: """
            A target is tcp://HOST:PORT, udp://HOST:PORT, tls://HOST[:PORT], http://HOST[:PORT]/PATH or https://…
            Ends with 0 if all are up, with 3 if there are only warnings, and otherwise with 1.
            Try it: HealthChecker tcp://localhost:7007 https://localhost:7443/
            """)

    @Argument(help: "What to check.")
    var targets: [String] = []

    @Option(
        help: "A file with a target in each line; - is standard input. Lines that begin with # do not count.")
    var file: String?

    @Option(help: "How many checks are under way at a time.")
    var concurrency = 100

    @Option(help: "After how many seconds an attempt has failed.")
    var timeout = 5.0

    @Option(help: "How often a target is tried.")
    var attempts = 3

    @Option(help: "Warns of a certificate that expires in fewer days.")
    var days = 14

    @Option(name: .customLong("ca"), help: "A file of authorities to trust, instead of those of the system.")
    var authorities: String?

    @Flag(help: "Writes each result as a line of JSON.")
    var json = false

    func validate() throws {
        guard (1...10_000).contains(concurrency) else {
            throw ValidationError("a concurrency of \(concurrency) makes no sense; give 1 to 10000")
        }
        guard timeout >= 0.01, timeout <= 3600 else {
            throw ValidationError("a timeout of \(timeout) seconds makes no sense; give 0.01 to 3600")
        }
        guard (1...100).contains(attempts) else {
            throw ValidationError("\(attempts) attempts make no sense; give 1 to 100")
        }
        guard days >= 0 else { throw ValidationError("\(days) days make no sense; give 0 or more") }
    }

    func run() throws {
        let loop = EventLoop.main
        var configuration = TLSClientConfiguration()
        if let authorities { configuration.trust = .authorities([.path(authorities)]) }
        let checker = Checker(
            loop: loop, context: try TLSContext.client(configuration, on: loop), timeout: .seconds(timeout),
            attempts: attempts, leastDays: days)
        let targets = try allTargets()
        var report = Report(count: targets.count, asJSON: json)
        let checks = loop.forEach(targets, maxConcurrent: concurrency) { target in
            checker.check(target).map { try report.add($0) }
        }
        let interrupted = loop.signal(.interrupt).map { throw Refusal("interrupted") }
        try loop.run(until: Future.race([checks, interrupted]))
        sayOnStandardError("\(report.summary)\n")
        throw ExitCode(report.exitCode)
    }

    private func allTargets() throws -> [Target] {
        var all = targets
        if let file {
            guard let bytes = try? Data(contentsOf: URL(filePath: file == "-" ? "/dev/stdin" : file)) else {
                throw ValidationError("the file \(file) cannot be read")
            }
            let lines = bytes.text.split(whereSeparator: \.isNewline)
            all += lines.map { $0.trimming(while: \.isWhitespace) }.filter {
                !$0.isEmpty && !$0.hasPrefix("#")
            }
        }
        guard !all.isEmpty else {
            throw ValidationError("there is nothing to check; name a target, or a --file")
        }
        return try all.map { try Target($0) }
    }
}

extension Substring {
    fileprivate func trimming(while isRemoved: (Character) -> Bool) -> String {
        let start = drop(while: isRemoved)
        return String(start.reversed().drop(while: isRemoved).reversed())
    }
}
