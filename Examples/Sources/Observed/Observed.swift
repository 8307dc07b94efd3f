import ArgumentParser
import ExampleSupport
import InMemoryTracing
import Logging
import Metrics
import ServiceLifecycle
import Tracing
import UVFutures

/// Answers each line with the number of its letters, and tells all there is to know of it: a log, metrics and traces, in
/// the group of services of a process.
///
/// It shows: a context that follows a request from its connection over another connection, a timer and a thread of the
/// pool; what a loop says of itself; and loops as one service among others. Its metrics and traces go to its standard
/// output when it ends. Another program would bootstrap other backends, and change nothing else.
@main
struct Observed: OneLineCommand {
    static let configuration = CommandConfiguration(
        abstract: "Counts the letters of lines, with a log, metrics and traces, until SIGINT or SIGTERM.")

    @Option(help: "The port to listen on; 0 picks a free one.")
    var port = 7011

    @Option(help: "How many loops serve, each on a thread of its own.")
    var loops = 2

    @Option(help: "How many seconds open connections have to finish after a signal.")
    var grace = 5.0

    func validate() throws {
        guard (1...1000).contains(loops) else {
            throw ValidationError("\(loops) loops make no sense; give 1 to 1000")
        }
        guard (0...86_400).contains(grace) else {
            throw ValidationError("a grace of \(grace) seconds makes no sense; give 0 to 86400")
        }
    }

    func run() throws {
        let (metrics, tracer) = (PrintableMetrics(), InMemoryTracer())
        MetricsSystem.bootstrap(metrics)
        InstrumentationSystem.bootstrap(tracer)
        LoggingSystem.bootstrap(
            StreamLogHandler.standardError(label:metadataProvider:), metadataProvider: Request.metadata)

        // The last service ends first: who counts letters needs the echo.
        let echo = EchoService()
        let letters = LetterService(port: port, loops: loops, grace: .seconds(grace), echo: echo)
        let services = ServiceGroup(
            services: [echo, letters], gracefulShutdownSignals: [.sigterm, .sigint],
            logger: Logger(label: "observed"))
        let loop = EventLoop.main
        try loop.run(until: Future(on: loop) { try await services.run() })
        print(metrics.lines.joined(separator: "\n"))
        for span in tracer.finishedSpans { print(span.line) }
    }
}

extension FinishedInMemorySpan {
    /// The span in one line: its request, its name, and the name of nobody or of the span in which it began.
    fileprivate var line: String {
        let parent = parentSpanID.map { " in \($0)" } ?? ""
        return "span \(spanID)\(parent) of request \(context.request ?? "none"): \(operationName)"
    }
}
