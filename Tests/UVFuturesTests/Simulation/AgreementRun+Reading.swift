import FoundationEssentials
import UVFutures

extension AgreementRun {
    func read(_ end: AgreementEnd, _ verb: Program.Verb, _ name: String) {
        guard let stream = end.stream else { return }
        guard !end.hasLostChunk else {
            _ = outcomes.add("\(name), read", "skipped")
            return
        }
        switch verb {
        case .some:
            watch(end, verb, name, readAll(end, stream, 0)) { end.text($0) }
        case .exactly(let count):
            let read = stream.read(exactly: count)
            watch(end, verb, name, read.takes(end)) { end.text($0?.count) }
        case .line(let limit):
            let read = stream.readLine(limit: limit)
            let line = read.map { data in
                if let data { end.takeLine(data) }
                return data
            }
            watch(end, verb, name, line) { end.text($0?.count) }
        case .delimited(let limit):
            let read = stream.read(until: Data([13, 10]), limit: limit)
            let part = read.takes(end).map { data in
                if data != nil { end.taken += 2 }
                return data
            }
            watch(end, verb, name, part) { end.text($0?.count) }
        case .toEnd(let limit):
            let read = stream.readToEnd(limit: limit).map { Optional($0) }
            watch(end, verb, name, read.takes(end)) { end.text($0?.count) }
        case .remains:
            watch(end, verb, name, stream.readToEnd()) { _ in "read" }
        case .chunks, .spans, .slowChunks: iterate(end, stream, verb, name)
        case .taskChunks:
            let start = end.taken
            let body = Future(on: stream.loop) { for try await chunk in stream.chunks { end.take(chunk) } }
            watch(end, verb, name, body) { end.text(end.taken - start) }
        case .taskLines:
            var count = 0
            let body = Future(on: stream.loop) {
                for try await line in stream.lines() {
                    end.takeLine(line)
                    count += 1
                }
            }
            watch(end, verb, name, body) { "\(count) lines, \(end.text(end.taken))" }
        }
    }

    private func watch<Value>(
        _ end: AgreementEnd, _ verb: Program.Verb, _ name: String, _ read: Future<Value>,
        _ text: @escaping (Value) -> String
    ) {
        // A read that comes too early fails at once, and the other one stays.
        if end.reading == nil {
            end.reading = verb
            end.cancelRead = { read.cancel() }
            read.whenComplete { _ in end.reading = nil }
        }
        outcomes.watch("\(name), read", of: end, read, text)
    }

    /// Reads until all has come that has been written, or the end.
    private func readAll(_ end: AgreementEnd, _ stream: SocketConnection, _ count: Int) -> Future<Int?> {
        stream.read().flatMap { data in
            end.take(data)
            if data.isEmpty { return stream.loop.succeeded(count == 0 ? nil : count) }
            let count = count + data.count
            guard let peer = end.peer, peer.written > end.taken else { return stream.loop.succeeded(count) }
            return self.readAll(end, stream, count)
        }
    }

    private func iterate(
        _ end: AgreementEnd, _ stream: SocketConnection, _ verb: Program.Verb, _ name: String
    ) {
        var taken: [Data] = []
        let all: Future<Void>
        switch verb {
        case .chunks: all = stream.forEachChunk { end.take($0) }
        case .spans: all = stream.forEachSpan { end.take(Data(copying: $0)) }
        default:
            // How many bytes are in the first chunk is not determined, so they are counted when all have come.
            all = stream.forEachChunk { chunk in
                taken.append(chunk)
                if end.isReleased || end.isLeft { return stream.loop.succeeded() }
                let gate = stream.loop.makePromise(of: Void.self)
                end.gate = gate
                return gate.future
            }
        }
        let start = end.taken
        let counted = all.always {
            if end.isReleased { taken.forEach(end.take) } else { end.hasLostChunk = !taken.isEmpty }
        }
        watch(end, verb, name, counted) { end.text(end.taken - start) }
    }
}

extension Future where Value == Data? {
    fileprivate func takes(_ end: AgreementEnd) -> Future<Data?> {
        map { data in
            if let data { end.take(data) }
            return data
        }.whenFailed { error in
            if case StreamError.unexpectedEnd(let received) = error { end.take(received) }
        }
    }

    private func whenFailed(_ body: @escaping (any Error) -> Void) -> Future<Data?> {
        mapError { error in
            body(error)
            return error
        }
    }
}
