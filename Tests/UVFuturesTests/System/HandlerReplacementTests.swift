import CFuturesSystem
import CLibUV
import Futures
import FuturesTesting
import Glibc
import TestSupport
import Testing
import UVFutures

/// A value of users that an object of the library holds, and in whose place another one comes.
enum Replaced: String, CaseIterable, CustomTestStringConvertible {
    case onConnectionError, onShortage, proxyProtocol, listenerOnShortage, onEvent, onEvents, closedWatch
    case onChange, closedFileWatch, onUnreachable, closedSocket, resolver, programs, program

    var testDescription: String { rawValue }

    /// Returns a closure that puts `object` in the place, or something else for `nil`, and one that reads the place.
    func place(on loop: EventLoop, _ descriptor: Int32) throws
        -> (set: (AnyObject?) -> Void, read: () -> Void)
    {
        switch self {
        case .onConnectionError, .onShortage, .proxyProtocol: return server(on: loop)
        case .listenerOnShortage:
            let listener = try TCPListener(host: "127.0.0.1", port: 0, on: loop)
            return ({ o in listener.onShortage = { _ in _ = o } }, { _ = listener.onShortage })
        case .onEvent:
            let supervisor = ProcessSupervisor(on: loop)
            return (
                { o in supervisor.onEvent = { _ in _ = o } }, { _ = (supervisor.onEvent, supervisor.names) }
            )
        case .onEvents, .closedWatch: return try watch(on: loop, descriptor)
        case .onChange, .closedFileWatch: return try fileWatch(on: loop)
        case .onUnreachable, .closedSocket: return try socket(on: loop)
        case .resolver: return ({ loop.resolver = Resolver(object: $0) }, { _ = loop.resolver })
        case .programs:
            return (
                { o in loop.simulatedPrograms = ["a": { $0.loop.succeeded(o == nil ? 1 : 0) }] },
                { _ = loop.simulatedPrograms["a"] }
            )
        case .program:
            return (
                { o in loop.simulatedPrograms["a"] = { $0.loop.succeeded(o == nil ? 1 : 0) } },
                { _ = loop.simulatedPrograms["a"] }
            )
        }
    }

    private func server(on loop: EventLoop) -> (set: (AnyObject?) -> Void, read: () -> Void) {
        let server = TCPServer(on: loop) { $0.closed }
        switch self {
        case .onShortage: return ({ o in server.onShortage = { _ in _ = o } }, { _ = server.onShortage })
        case .proxyProtocol:
            return (
                { o in
                    let box = Unchecked(object: o)
                    var rules = ProxyProtocol()
                    rules.isTrusted = { _ in box.object == nil }
                    server.proxyProtocol = rules
                }, { _ = server.proxyProtocol }
            )
        default:
            return ({ o in server.onConnectionError = { _ in _ = o } }, { _ = server.onConnectionError })
        }
    }

    private func watch(on loop: EventLoop, _ descriptor: Int32) throws
        -> (set: (AnyObject?) -> Void, read: () -> Void)
    {
        let watch = try loop.watch(descriptor: descriptor)
        return (
            { [self] o in
                if self == .closedWatch && o == nil { watch.close() }
                watch.onEvents(.disconnected) { _ in _ = o }
            }, { watch.next(.disconnected).cancel() }
        )
    }

    private func fileWatch(on loop: EventLoop) throws -> (set: (AnyObject?) -> Void, read: () -> Void) {
        let watch = try loop.run(until: FileWatch.watch(directory: "/", on: loop))
        return (
            { [self] o in
                if self == .closedFileWatch && o == nil { watch.close() }
                watch.onChange { _ in _ = o }
            }, { watch.next().cancel() }
        )
    }

    private func socket(on loop: EventLoop) throws -> (set: (AnyObject?) -> Void, read: () -> Void) {
        let socket = try UDPSocket.bind(host: "127.0.0.1", port: 0, on: loop)
        return (
            { [self] o in
                if self == .closedSocket && o == nil { socket.close() }
                socket.onUnreachable { _ in _ = o }
            }, { socket.receive().cancel() }
        )
    }
}

private struct Resolver: NameResolver {
    let object: AnyObject?

    func resolve(_ name: String, port: Int, on loop: EventLoop) -> Future<[SocketAddress]> {
        loop.succeeded([])
    }
}

private struct Unchecked: @unchecked Sendable {
    let object: AnyObject?
}

struct HandlerReplacementTests {
    private static let cases = TestNetwork.allCases.flatMap { network in
        Replaced.allCases.filter {
            switch $0 {
            case .onEvents, .closedWatch: network == .system
            case .programs, .program: network == .virtual
            default: true
            }
        }.map { (network, $0) }
    }

    @Test(
        "the deinit of what was held before finds everything in place, and may put a third thing there",
        arguments: cases)
    func replaced(network: TestNetwork, what: Replaced) throws {
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        try withLoop(network) { loop in
            let place = try what.place(on: loop, descriptor)
            expectReplaceable(set: place.set, read: place.read)
        }
    }

    @Test(
        "the deinit of a loop's resolver finds the loop without it when the loop ends",
        arguments: TestNetwork.allCases)
    func resolverAtTheEnd(network: TestNetwork) throws {
        var isReleased = false
        try withLoop(network) { loop in
            loop.resolver = Resolver(
                object: AtEnd { [unowned loop] in
                    isReleased = !(loop.resolver is Resolver)
                })
        }
        #expect(isReleased)
    }
}
