import Foundation
import FuturesTesting
import TLSStreams
import Testing

/// What belongs to another loop is refused where it is given: a context, and the future of a choice, of a decision or
/// of a signature. The loops have one thread, so the check of the thread finds nothing.
struct ForeignLoopTests {
    /// What takes it: words of its line in `api.txt`.
    enum Taker: String, CaseIterable, Codable {
        case startClient = "ByteStream: func startTLS(client context"
        case startServer = "ByteStream: func startTLS(server context"
        case choice = "TLSServerConfiguration: var chooseContext"
        case chosenContext =
            "TLSServerConfiguration: var chooseContext: ((String?) throws -> Future<TLSContext?>)"
        case decision = "TLSTrust: var decideLater"
        case signature = "TLSIdentity: init(certificates: TLSFile, sign"
        case handler = "TLSServer: convenience init<Ignored>"

        var sentence: String {
            switch self {
            case .startClient, .startServer:
                "startTLS was given a context of another event loop. Make one on the loop of the stream."
            case .chosenContext:
                "chooseContext returned a context of another event loop. Make it on the loop of the server."
            default: "A future of another event loop was given where a future of this loop is needed."
            }
        }

        func give(_ loop: EventLoop, _ other: EventLoop, hasCompleted: Bool) throws {
            func foreign<Value>(_ value: Value) -> Future<Value> {
                hasCompleted ? other.succeeded(value) : other.never()
            }
            var (client, server) = (TLSClientConfiguration.usual, TLSServerConfiguration.usual)
            let elsewhere = try other.server(server)
            switch self {
            case .startClient:
                _ = try MemoryStream.pair(on: loop).0.startTLS(client: other.client(), host: "localhost")
            case .startServer: _ = try MemoryStream.pair(on: loop).0.startTLS(server: elsewhere)
            case .choice: server.chooseContext = { _ in foreign(nil) }
            case .chosenContext: server.chooseContext = { _ in loop.succeeded(elsewhere) }
            case .decision: client.trust.decideLater = { _, _ in foreign(true) }
            case .signature:
                server.identity = TLSIdentity(certificates: Authority.server.file) { _ in foreign(Data([1])) }
            case .handler:
                let tls = try TLSServer(context: loop.server()) { _ in foreign(1) }
                let address = try tls.listen(host: "127.0.0.1", port: 0)
                let client = try loop.client()
                _ = try loop.run(
                    until: TLSConnection.connect(host: "127.0.0.1", port: address.port, context: client))
                return loop.advance(by: .seconds(1))
            }
            _ = try? loop.pair(loop.server(server), loop.client(client))
        }
    }

    @Test(
        "what belongs to another loop traps where it is given", arguments: Taker.allCases, [false, true])
    func refused(taker: Taker, hasCompleted: Bool) async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            [taker, hasCompleted] in
            try taker.give(.virtual(), .virtual(), hasCompleted: hasCompleted)
        }
        let printed = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(printed.contains(taker.sentence))
    }
}
