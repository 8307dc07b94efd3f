import CFuturesSystem
import FoundationEssentials
import Futures
import FuturesTesting
import Glibc
import TestSupport
import Testing
import UVFutures

/// Programs, supervisors, locks, standard streams and watches of descriptors are used on the thread of their loop. Each
/// verb says so, whatever else is wrong with what it is given.
struct ForeignSystemTests {
    final class Belongings {
        let loop: EventLoop
        let child: ChildProcess
        let supervisor: ProcessSupervisor
        let output: DescriptorStream
        let directory: Directory
        let file: File
        let lock: FileLock

        init() throws {
            loop = EventLoop.virtual()
            loop.simulatedPrograms["plain"] = { process in process.loop.never() }
            child = try ChildProcess.start(.init("plain"), on: loop)
            supervisor = ProcessSupervisor(on: loop)
            output = try loop.standardOutput()
            loop.simulatedDisk.write("/file", "text")
            directory = try loop.run(until: Directory.open("/", on: loop))
            file = try loop.run(until: directory.open("file"))
            lock = try loop.run(until: file.lock(.shared))
        }
    }

    static let verbs: [@Sendable (Belongings) throws -> Void] = [
        { _ = ChildProcess.run(pipeline: [], on: $0.loop) },
        { _ = $0.child.standardOutput },
        { _ = $0.child.exit },
        { _ = try $0.child.send(.init(rawValue: -1)) },
        { _ = $0.child.end(within: .seconds(-1)) },
        { try $0.child.setWindowSize(.init(columns: 1, rows: 1)) },
        { _ = ProcessSupervisor(on: $0.loop) },
        { _ = try $0.supervisor.add("a", .init("none")) },
        { try $0.supervisor.addStopped("a", .init("none")) },
        { try $0.supervisor.adoptOrphans() },
        { _ = $0.supervisor.state(of: "a") },
        { _ = $0.supervisor.restart("a", within: .seconds(-1)) },
        { _ = $0.supervisor.start("a") },
        { _ = $0.supervisor.stop("a", within: .seconds(-1)) },
        { _ = $0.supervisor.remove("a", within: .seconds(-1)) },
        { _ = $0.supervisor.end(within: .seconds(-1)) },
        { _ = $0.supervisor.drain(within: .seconds(-1)) },
        { _ = try $0.output.windowSize },
        { try $0.output.setRawMode(true) },
        { _ = try $0.loop.standardOutput() },
        { _ = try $0.loop.makePipe() },
        { _ = try $0.loop.watch(descriptor: 0) },
        { _ = $0.loop.signal(.init(rawValue: -1)) },
        { _ = $0.loop.date },
        { _ = $0.loop.simulatedInput },
        { _ = $0.loop.simulatedOutput },
        { _ = $0.loop.simulatedError },
        { _ = $0.loop.simulatedPrograms },
        { _ = $0.loop.simulatedDisk },
        { _ = Directory.open("", on: $0.loop) },
        { _ = $0.directory.isOpen },
        { _ = $0.directory.open("") },
        { _ = $0.file.isOpen },
        { _ = $0.file.read(atMost: 0, at: -1) },
        { _ = $0.file.lock(.shared) },
        { _ = $0.lock.release() },
    ]

    @Test("a verb on another thread", arguments: verbs.indices)
    func elsewhere(verb: Int) async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            [verb] in
            nonisolated(unsafe) let belongings = try Belongings()
            try onThread { try unsafe Self.verbs[verb](belongings) }
        }
        expectSentence(in: result)
    }

    static let owners: [@Sendable (EventLoop) throws -> AnyObject] = [
        { try $0.run(until: Directory.open("/", on: $0)) },
        { try $0.makePipe().reading },
        { try $0.watch(descriptor: plainSocket()) },
    ]

    @Test("what is dropped on another thread while it is open", arguments: owners.indices)
    func dropped(owner: Int) async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            [owner] in
            let loop = try EventLoop()
            nonisolated(unsafe) var last = [try Self.owners[owner](loop)]
            try onThread { unsafe last.removeAll() }
            withExtendedLifetime(loop) {}
        }
        expectSentence(in: result)
    }

    static let watchVerbs: [@Sendable (DescriptorWatch) -> Void] = [
        { _ = $0.next([]) }, { $0.onEvents([]) { _ in } }, { _ = $0.close() },
    ]

    @Test("a verb of a watch of a descriptor on another thread", arguments: watchVerbs.indices)
    func watches(verb: Int) async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            [verb] in
            let loop = try EventLoop()
            nonisolated(unsafe) let watch = try loop.watch(descriptor: plainSocket())
            try onThread { unsafe Self.watchVerbs[verb](watch) }
            withExtendedLifetime(loop) {}
        }
        expectSentence(in: result)
    }

    private func expectSentence(in result: ExitTest.Result?) {
        let printed = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(
            printed.contains("used off its event loop's thread. Go there first, with loop.execute { … }."))
    }
}

private func plainSocket() -> CInt { socket(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0) }
