import UVFutures

/// Callbacks capture classes, variables and values that are not Sendable, with no annotation.
final class Counter {
    var counts: [String: Int] = [:]
}

struct Page {
    let counter: Counter
    var text: String
}

func classes(loop: EventLoop, connection: TCPConnection) {
    let counter = Counter()
    var last = Page(counter: counter, text: "")
    connection.forEachChunk { chunk in
        counter.counts["chunks", default: 0] += 1
        last.text += String(decoding: chunk, as: UTF8.self)
        return connection.write(chunk)
    }.whenComplete { _ in print(last.text, counter.counts) }
    let pages: Future<Page> = loop.submit { Page(counter: counter, text: "one") }
    pages
        .flatMap { page in loop.succeeded([page], after: .seconds(1)) }
        .tap { pages in counter.counts["pages"] = pages.count }
        .always { counter.counts.removeAll() }
        .whenFailure { print($0) }
    loop.repeat(every: .seconds(1)) { counter.counts["ticks", default: 0] += 1 }
}
