import ByteStreams
import FoundationEssentials
import Futures
import FuturesTesting
import Testing

/// The server of a client under test: each connect makes a pair of streams in memory, and the test plays the far end.
final class PlayedServer {
    let loop: EventLoop
    /// The far ends of all connections so far.
    private(set) var ends: [MemoryStream] = []
    /// What has come on each of them.
    private(set) var received: [String] = []
    private(set) var attempts: [LoopInstant] = []
    /// The error with which connects fail.
    var refusal: (any Error)?
    var capacity = 65_536
    /// Whether connects stay pending.
    var isSilent = false
    private(set) var cancelledConnects = 0

    init(on loop: EventLoop) { self.loop = loop }

    func connect() throws -> Future<MemoryStream> {
        attempts.append(loop.now)
        if let refusal { throw refusal }
        if isSilent {
            let promise = loop.makePromise(of: MemoryStream.self)
            promise.onCancelRequest { [self] in
                cancelledConnects += 1
                return .cancel
            }
            silent.append(promise)
            return promise.future
        }
        return loop.succeeded(try makePair())
    }

    private(set) var silent: [Promise<MemoryStream>] = []

    func makePair() throws -> MemoryStream {
        let (near, far) = try MemoryStream.pair(on: loop, capacity: capacity)
        let number = ends.count
        ends.append(far)
        received.append("")
        far.forEachChunk { [unowned self] chunk -> Void in
            received[number] += String(decoding: chunk, as: UTF8.self)
        }
        .ignoreFailure()
        return near
    }

    func endAll() {
        for end in ends { end.abort() }
        ends = []
        silent = []
    }
}

/// Gives `body` a client of a played server, afterwards closes it, and proves that nothing is left alive.
func withClient(
    limits: PipelineLimits = PipelineLimits(), backoff: Backoff = .constant(.seconds(1)),
    greeting: ((PipelinedConnection<String>) throws -> Future<Void>)? = nil, push: ((String) -> Bool)? = nil,
    refusal: (any Error)? = nil, isSilent: Bool = false, capacity: Int = 65_536,
    _ body: (PipelinedClient<String>, PlayedServer, EventLoop) throws -> Void
) throws {
    let loop = EventLoop.virtual()
    var unhandled: [any Error] = []
    loop.onUnhandledFailure = { unhandled.append($0) }
    weak var weakClient: PipelinedClient<String>?
    do {
        let server = PlayedServer(on: loop)
        (server.refusal, server.isSilent, server.capacity) = (refusal, isSilent, capacity)
        let client = try PipelinedClient(
            decodedBy: SemicolonDecoder(), limits: limits, backoff: backoff, on: loop, greeting: greeting,
            push: push,
            connect: server.connect)
        weakClient = client
        settle(loop)
        try body(client, server, loop)
        client.close()
        server.endAll()
        loop.advance(by: .seconds(10))
        #expect(client.closed.succeeded && client.state == .closed)
    }
    loop.advance(by: .seconds(100))
    #expect(weakClient == nil)
    #expect(unhandled.isEmpty, "\(unhandled)")
    expectNothingAlive(on: loop)
}

/// Lets everything happen that takes no time.
func settle(_ loop: EventLoop) { loop.advance(by: .zero) }

extension Future {
    var pipelineError: PipelineError? { error as? PipelineError }

    /// The cause, if the answer was lost.
    var lossCause: (any Error)? {
        if case .answerLost(let cause)? = pipelineError { cause } else { nil }
    }
}
