internal import ByteStreams
internal import Futures
internal import Glibc
internal import SystemIO

/// The handle of a simulated process, for the program that started it.
final class SimulatedChild: SimulatedHandle, ProcessHandle {
    let process: SimulatedProcess
    private let name: String
    /// A simulated process does not start other processes in its group.
    var groupLives: Bool { false }
    var onEnd: (CInt?) -> Void = { _ in }
    var onAbort: () -> Void = {}
    private var work: Future<Int32>?
    private var hasEnded = false
    private var isStopped = false
    /// The signals that have arrived since the process was stopped.
    private var waitingSignals: Set<CInt> = []
    private var waitingResult: Result<Int32, any Error>?

    init(
        _ driver: VirtualDriver, _ process: SimulatedProcess, _ launch: ProcessLaunch,
        _ program: @escaping (SimulatedProcess) throws -> Future<Int32>
    ) {
        self.process = process
        name = launch.program
        super.init(driver)
        host.note("starts process \(process.id) (\(name))")
        if loop.isObserved { loop.tell(.opened(line)) }
        soon { [self] in run(program) }
    }

    var id: Int32 { process.id }

    override var line: String { "process \(id) (\(name))" }

    private func run(_ program: (SimulatedProcess) throws -> Future<Int32>) {
        guard !hasEnded else { return }
        let work: Future<Int32>
        do { work = try program(process).given(to: loop) } catch { work = loop.failed(error) }
        self.work = work
        work.whenComplete { [weak self] result in self?.programDidEnd(result) }
    }

    private func programDidEnd(_ result: Result<Int32, any Error>) {
        guard !hasEnded else { return }
        guard !isStopped else {
            waitingResult = result
            return
        }
        if case .failure(let error) = result { host.note("process \(id) fails: \(error)") }
        let code = (try? result.get()) ?? 1
        // The output of the program is delivered before its process ends.
        Future.allSettled(process.streams.map { $0.close() }, on: loop).whenComplete { [weak self] _ in
            self?.end(status: (code & 0xff) << 8)
        }
    }

    private func end(status: CInt) {
        guard !hasEnded else { return }
        endWork()
        soon { [self] in
            host.note("process \(id) ends")
            onEnd(status)
        }
    }

    private func endWork() {
        hasEnded = true
        process.end()
        for stream in process.streams { stream.abort() }
        work?.cancel([.evenIfOthersWaiting, .immediately])
        work = nil
    }

    func signal(_ number: CInt, toGroup: Bool) throws(SystemError) -> Bool {
        guard !hasEnded else { return false }
        guard (0...64).contains(number) else { throw SystemError(.invalidArgument, "signal") }
        if number == 0 { return true }
        soon { [self] in take(number) }
        return true
    }

    private func take(_ signal: CInt) {
        guard !hasEnded else { return }
        if signal == SIGCONT { goOn() }
        let stops = [SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU].contains(signal)
        guard !isStopped || signal == SIGKILL else {
            if !stops { waitingSignals.insert(signal) }
            return
        }
        let canBeHandled = signal != SIGKILL && signal != SIGSTOP
        if canBeHandled, process.deliver(ProcessSignal(rawValue: signal)) { return }
        if stops {
            isStopped = true
        } else if ![SIGCHLD, SIGCONT, SIGURG, SIGWINCH].contains(signal) {
            end(status: signal)
        }
    }

    private func goOn() {
        isStopped = false
        // The kernel delivers signals that stand for a program fault first.
        let faults: Set = [SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGFPE, SIGSYS]
        let signals =
            waitingSignals.intersection(faults).sorted() + waitingSignals.subtracting(faults).sorted()
        waitingSignals = []
        for signal in signals { take(signal) }
        if let result = waitingResult.take() { programDidEnd(result) }
    }

    func setWindow(columns: UInt16, rows: UInt16) throws(SystemError) {
        throw SystemError(.badDescriptor, "set window size")
    }

    override func abort() {
        guard !isClosing else { return }
        if !hasEnded { endWork() }
        let onAbort = onAbort
        close()
        loop.turn { onAbort() }
    }

    override func didClose() {
        onEnd = { _ in }
        onAbort = {}
        if loop.isObserved { loop.tell(.closed(line, failure: nil)) }
    }
}
