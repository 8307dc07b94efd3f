import Logging
import Tracing
import UVFutures

/// The request that code works for: its id is in each line that the code logs, and in each span.
enum Request {
    fileprivate enum Key: InstrumentationContextKey { typealias Value = String }

    static let metadata = Logger.MetadataProvider {
        InstrumentationContext.current?.request.map { ["request": "\($0)"] } ?? [:]
    }

    /// Asks the echo at `address` for `text`, counts the letters of the answer on a thread of the pool, and completes with
    /// their number.
    static func letters(
        of text: String, id: String, _ address: SocketAddress, on loop: EventLoop, _ logger: Logger
    ) -> Future<Int> {
        var context = InstrumentationContext.topLevel
        context.request = id
        let span = startSpan("letters", context: context)
        // What begins in here, and in the closures below, belongs to the span.
        return InstrumentationContext.withValue(span.context) {
            logger.info("asks")
            return TCPConnection.connect(host: address.host, port: address.port, on: loop)
                .flatMap { client in
                    client.write("\(text)\n")
                    return client.readLine().unwrap().always { client.close() }
                }
                .flatMap { line in
                    logger.info("has the answer")
                    return loop.sleep(for: .milliseconds(1)).map { line.text }
                }
                .map(on: .pool) { text in
                    withSpan("count") { _ in
                        logger.info("works on \(text.utf8.count) bytes elsewhere")
                        return text.count(where: \.isLetter)
                    }
                }
                .tap { _ in logger.info("is done") }
                .always { span.end() }
        }
    }
}

extension InstrumentationContext {
    var request: String? {
        get { self[Request.Key.self] }
        set { self[Request.Key.self] = newValue }
    }
}
