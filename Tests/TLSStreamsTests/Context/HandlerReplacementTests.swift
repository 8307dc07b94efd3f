import FuturesTesting
import TLSStreams
import TestSupport
import Testing
import UVFutures

/// A value of users that an object of the library holds, and in whose place another one comes.
enum Replaced: String, CaseIterable, CustomTestStringConvertible {
    case onExpiry, reload, reloadTrust, onConnectionError, onHandshakeFailure

    var testDescription: String { rawValue }

    /// Returns a closure that puts `object` in the place, or something else for `nil`, and one that reads the place.
    func place(on loop: EventLoop) throws -> (set: (AnyObject?) -> Void, read: () -> Void) {
        let context = try loop.server()
        let server = try TLSServer(context: context) { $0.closed }
        switch self {
        case .onExpiry: return ({ o in context.onExpiry = { _ in _ = o } }, { _ = context.onExpiry })
        case .onConnectionError:
            return ({ o in server.onConnectionError = { _ in _ = o } }, { _ = server.onConnectionError })
        case .onHandshakeFailure:
            return ({ o in server.onHandshakeFailure = { _ in _ = o } }, { _ = server.onHandshakeFailure })
        case .reload:
            return (
                { o in
                    var configuration = TLSServerConfiguration.usual
                    configuration.chooseContext = { [weak context] _ in
                        loop.succeeded(o == nil ? context : nil)
                    }
                    try! context.reload(configuration)
                }, { _ = context.certificate }
            )
        case .reloadTrust:
            return (
                { o in
                    var configuration = TLSServerConfiguration.usual
                    configuration.trust.decide = { _, _ in o == nil }
                    try! context.reload(configuration)
                }, { _ = context.certificate }
            )
        }
    }
}

struct HandlerReplacementTests {
    @Test(
        "the deinit of what was held before finds everything in place, and may put a third thing there",
        arguments: Replaced.allCases)
    func replaced(what: Replaced) throws {
        try withLoop { loop in
            let place = try what.place(on: loop)
            expectReplaceable(set: place.set, read: place.read)
        }
    }
}
