import CMalloc
import Glibc
import HTTP1
import TLSStreams

/// What the server says about itself: to whoever follows it, every half second, and to Prometheus.
final class Telemetry {
    private unowned let site: Site
    private let began: LoopInstant
    private var number = 0

    init(of site: Site) {
        self.site = site
        began = site.loop.now
    }

    /// Sends events to `connection`, whose answer has begun. Completes when the connection ends or the server drains.
    func follow(_ connection: ByteStream) -> Future<Void> {
        send(to: connection, withPicture: true)
        return connection.scope.run(onDrain: .cancel) {
            var count = 0
            for try await _ in self.site.loop.ticks(every: .milliseconds(500)) {
                count += 1
                self.send(to: connection, withPicture: count % 4 == 0)
            }
        }
        .recover { _ in }
    }

    private func send(to connection: ByteStream, withPicture: Bool) {
        // Who does not keep up misses events, and gets the newest ones later.
        guard connection.bufferedBytes < 4096 else { return }
        number += 1
        var text = "id: \(number)\ndata: \(json())\n\n"
        if withPicture {
            text += "event: picture\n"
            for line in site.loop.dump(limit: 40).split(separator: "\n") { text += "data: \(line)\n" }
            text += "\n"
        }
        var chunk = MessageWriter()
        chunk.chunk(text.utf8Span.span.bytes)
        connection.write(chunk.bytes)
    }

    private func json() -> String {
        let (loop, server) = (site.loop.statistics, site.server.statistics)
        let values: [(String, Int)] = [
            ("milliseconds", began.duration(to: site.loop.now).milliseconds), ("open", server.active),
            ("accepted", server.accepted), ("received", server.bytesReceived), ("sent", server.bytesSent),
            ("requests", site.counts.requests), ("webSockets", site.counts.webSockets),
            ("turns", Int(loop.turns)), ("callbacks", Int(loop.callbacks)), ("lag", loop.lag.microseconds),
            ("processor", processorMicroseconds()), ("heap", heapBytes()),
        ]
        return "{" + values.map { "\"\($0)\":\($1)" }.joined(separator: ",") + "}"
    }

    /// The same in the text that Prometheus reads.
    func prometheus() -> String {
        let (loop, server) = (site.loop.statistics, site.server.statistics)
        var text = ""
        func add(_ name: String, _ type: String, _ help: String, _ values: [(labels: String, value: String)])
        {
            text += "# HELP \(name) \(help)\n# TYPE \(name) \(type)\n"
            for (labels, value) in values { text += "\(name)\(labels) \(value)\n" }
        }
        func counter(_ name: String, _ help: String, _ value: Int) {
            add(name, "counter", help, [("", "\(value)")])
        }
        func gauge(_ name: String, _ help: String, _ value: String) {
            add(name, "gauge", help, [("", value)])
        }
        add(
            "webserver_responses_total", "counter", "Answers, by the class of their status.",
            (1...5).map { ("{class=\"\($0)xx\"}", "\(site.counts.answers[$0])") })
        gauge("webserver_connections", "Open connections.", "\(server.active)")
        counter("webserver_connections_accepted_total", "Connections so far.", server.accepted)
        add(
            "webserver_connections_closed_total", "counter", "Connections that ended, by reason.",
            server.closes.map { ("{reason=\"\($0.key)\"}", "\($0.value)") }.sorted { $0.labels < $1.labels })
        counter("webserver_received_bytes_total", "Bytes from clients.", server.bytesReceived)
        counter("webserver_sent_bytes_total", "Bytes to clients.", server.bytesSent)
        gauge("webserver_websockets", "Open WebSockets.", "\(site.counts.webSockets)")
        counter("webserver_websocket_messages_total", "Messages of WebSockets.", site.counts.messages)
        counter("webserver_loop_turns_total", "Turns of the loop.", Int(loop.turns))
        counter("webserver_loop_callbacks_total", "Callbacks that turns have run.", Int(loop.callbacks))
        gauge(
            "webserver_loop_lag_seconds", "How late the last timers were.",
            "\(Double(loop.lag.microseconds) / 1e6)")
        gauge(
            "webserver_loop_longest_lag_seconds", "How late timers were at most.",
            "\(Double(loop.longestLag.microseconds) / 1e6)")
        gauge("webserver_futures", "Futures that are alive.", "\(loop.futures)")
        add(
            "process_cpu_seconds_total", "counter", "CPU time, of the process and the system for it.",
            [("", "\(Double(processorMicroseconds()) / 1e6)")])
        gauge("webserver_heap_bytes", "Memory that is in use.", "\(heapBytes())")
        return text
    }

    private func processorMicroseconds() -> Int {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return time.tv_sec * 1_000_000 + time.tv_nsec / 1000
    }

    private func heapBytes() -> Int {
        let heap = mallinfo2()
        return Int(heap.uordblks + heap.hblkhd)
    }
}

extension Duration {
    fileprivate var microseconds: Int {
        Int(components.seconds) * 1_000_000 + Int(components.attoseconds / 1_000_000_000_000)
    }
    fileprivate var milliseconds: Int { microseconds / 1000 }
}
