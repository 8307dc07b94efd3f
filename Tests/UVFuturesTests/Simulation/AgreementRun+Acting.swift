import FoundationEssentials
import UVFutures

extension AgreementRun {
    func act(_ end: AgreementEnd, _ action: Program.Action) {
        guard let stream = end.stream else { return }
        let number = outcomes.count
        let name = "\(number): \(end.name) \(action)"
        switch action {
        case .write(let sizes): write(end, sizes, name)
        case .writeAndShutdown(let size):
            write(end, [size], name)
            // If nobody is there any more, the reset comes while the end is told.
            if !end.peer.isOver { shutdown(end, name) }
        case .writeAndClose(let size):
            write(end, [size], name)
            close(end, nil)
        case .transfer(let size, let verb): transfer(end, size, verb, name)
        case .flood(let size):
            let write = stream.write(end.next(size))
            end.cancelWrite = { write.cancel() }
            end.isFlooding = true
            outcomes.watch(name, of: end, write) { "written" }
        case .cancelWrite: end.cancelWrite()
        case .read(let verb): read(end, verb, name)
        case .cancelRead: end.gate == nil ? end.cancelRead() : release(end)
        case .release: release(end)
        case .shutdownWrite: shutdown(end, name)
        case .writable: outcomes.watch(name, of: end, stream.writable) { "writable" }
        case .close: close(end, nil)
        case .closeWithin(let time):
            // What is left to be read decides how the connection ends, and nothing decides how much is read in
            // time.
            close(end, end.peer.written == end.taken ? time : nil)
        case .abort:
            end.hasFinished = true
            stream.abort()
        case .drop:
            // The read would keep the connection, and how much it leaves unread when it completes is not determined.
            if end.reading?.leavesBytes == true { return end.cancelRead() }
            end.hasFinished = true
            end.stream = nil
        }
    }

    private func close(_ end: AgreementEnd, _ time: Duration?) {
        end.hasClosed = true
        end.stream?.close(within: time)
    }

    private func write(_ end: AgreementEnd, _ sizes: [Int], _ name: String) {
        let parts = sizes.map { end.next(min($0, end.room)) }
        guard let stream = end.stream else { return }
        let write = parts.count == 1 ? stream.write(parts[0]) : stream.write(parts)
        outcomes.watch(name, of: end, write) { "written \(parts.map(\.count))" }
    }

    private func shutdown(_ end: AgreementEnd, _ name: String) {
        end.hasFinished = true
        outcomes.watch("\(name), and the end", of: end, end.stream!.shutdownWrite()) { "told" }
    }

    private func transfer(_ end: AgreementEnd, _ size: Int, _ verb: Program.Verb, _ name: String) {
        let peer = end.isEchoed ? end : end.peer!
        guard !end.isGone, !end.hasFinished, !peer.isGone, peer.reading?.isThorough != false else {
            _ = outcomes.add(name, "skipped")
            return
        }
        let write = end.stream!.write(end.next(size))
        outcomes.watch(name, of: end, write) { "written" }
        guard peer.reading == nil else { return }
        var verb = verb
        switch verb {
        case .exactly: verb = .exactly(end.written - peer.taken)
        case .toEnd, .remains: shutdown(end, name)
        default: break
        }
        read(peer, verb, name)
    }

    private func release(_ end: AgreementEnd) {
        end.isReleased = true
        end.gate.take()?.succeed()
    }
}

extension AgreementEnd {
    /// Whether what this end sends comes back.
    fileprivate var isEchoed: Bool { peer.isEcho }
}
