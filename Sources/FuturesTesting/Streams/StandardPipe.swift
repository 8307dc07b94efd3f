internal import FoundationEssentials
internal import UVFutures

/// The pipe between a simulated program and its test that is the program's standard input, output or error.
final class StandardPipe {
    /// The number of the program's descriptor: 0, 1 or 2.
    let number: CInt
    unowned let host: SimulatedHost
    /// The bytes that were written and have not been read.
    private(set) var unread = Data()
    /// The most unread bytes that the pipe holds for the program.
    var capacity = Int.max { didSet { end?.roomChanged() } }
    /// Whether no more bytes come, because the writer has ended.
    private(set) var hasEnded = false
    /// Whether the reader has gone.
    private(set) var isAbandoned = false
    /// Whether a stream of the program uses the pipe.
    private var isInUse = false
    /// The program's end.
    private weak var end: StandardPipeTransport?

    init(_ number: CInt, of host: SimulatedHost) {
        self.number = number
        self.host = host
    }

    /// Opens the program's end.
    func open(on driver: VirtualDriver) throws -> StandardPipeEnd {
        guard !isInUse else { throw StandardDescriptors.inUse(number) }
        guard host.takeDescriptor() else { throw UVError(.tooManyOpenFiles, "adopt") }
        isInUse = true
        let end = StandardPipeTransport(self, driver)
        self.end = end
        return StandardPipeEnd(end) { self.isInUse = false }
    }

    var room: Int { max(0, capacity - unread.count) }

    func append(_ bytes: Data) {
        unread.append(bytes)
        end?.lookSoon()
    }

    /// Removes and returns the first unread bytes, at most `count`.
    func take(most count: Int) -> Data {
        let taken = Data(unread.prefix(count))
        unread = Data(unread.dropFirst(count))
        end?.roomChanged()
        return taken
    }

    func endWriting() {
        hasEnded = true
        end?.lookSoon()
    }

    func abandon() {
        isAbandoned = true
        end?.roomChanged()
    }

    /// Ends the program's side, because the program has ended.
    func programHasEnded() {
        end = nil
        if number == 0 { isAbandoned = true } else { hasEnded = true }
    }

    /// Adds a line about bytes of the program to the trace.
    func note(_ what: String, _ bytes: Data) {
        let trace = host.simulation.trace
        guard trace.isOn else { return }
        trace.note(
            delivery: Trace.mix(UInt64(number), bytes.bytes), at: host.simulation.now
        ) { "\(host.name) \(what) \(StandardDescriptors.name(number)): \(bytes.count) bytes" }
    }
}
