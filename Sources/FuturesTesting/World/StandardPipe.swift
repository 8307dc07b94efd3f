internal import FoundationEssentials
internal import SystemIO

/// A pipe for the standard input, output or error of a simulated program. Its other end belongs to the test or, for a
/// child process, to the program that started the child.
final class StandardPipe {
    /// The number of the program's descriptor: 0, 1 or 2.
    let number: CInt
    /// The owner of the stream, for the trace and for lists of open objects. Empty for the host's own program.
    let owner: String
    unowned let host: SimulatedHost
    /// The bytes that have been written but not read.
    private(set) var unread = Data()
    /// The largest number of unread bytes in the pipe.
    var capacity = Int.max { didSet { tellWriters() } }
    /// Whether the writer has ended, so that no more bytes arrive.
    private(set) var hasEnded = false
    /// Whether the reader has been closed.
    private(set) var isAbandoned = false
    /// Whether a stream of the program uses the pipe.
    var isInUse = false
    /// The open ends that belong to programs.
    private var ends: [StandardPipeTransport] = []

    init(_ number: CInt, of host: SimulatedHost, owner: String = "") {
        self.number = number
        self.host = host
        self.owner = owner
    }

    var name: String { StandardDescriptors.name(number) + (owner.isEmpty ? "" : " of \(owner)") }

    /// Opens the program's end.
    func open(on driver: VirtualDriver) throws -> StandardPipeTransport {
        guard !isInUse else { throw StandardDescriptors.inUse(number) }
        guard host.hasDescriptor else { throw SystemError(.tooManyOpenFiles, "adopt") }
        isInUse = true
        return StandardPipeTransport(self, driver, writes: number > 0)
    }

    func add(_ end: StandardPipeTransport) { ends.append(end) }

    func remove(_ end: StandardPipeTransport) { ends.removeAll { $0 === end } }

    private func tellWriters() { for end in ends where end.writes { end.roomChanged() } }
    private func tellReaders() { for end in ends where !end.writes { end.contentsChanged() } }

    var room: Int { max(0, capacity - unread.count) }

    func append(_ bytes: Data) {
        unread.append(bytes)
        tellReaders()
    }

    /// Removes and returns the first unread bytes, at most `count`.
    func take(most count: Int) -> Data {
        let taken = Data(unread.prefix(count))
        unread = Data(unread.dropFirst(count))
        tellWriters()
        return taken
    }

    func endWriting() {
        hasEnded = true
        tellReaders()
    }

    func abandon() {
        isAbandoned = true
        tellWriters()
    }

    /// Ends the program's side, because the program has ended.
    func programHasEnded() {
        ends = []
        if number == 0 { isAbandoned = true } else { hasEnded = true }
    }

    /// Adds a line about bytes of the program to the trace.
    func note(_ what: String, _ bytes: Data) {
        let trace = host.simulation.trace
        guard trace.isOn else { return }
        trace.note(
            delivery: Trace.mix(UInt64(number), bytes.bytes), at: host.simulation.now
        ) { "\(host.name) \(what) \(name): \(bytes.count) bytes" }
    }
}
