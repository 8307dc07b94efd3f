// What the examples in the comments of the sources may use. It is compiled, and never run.
import Foundation
import FuturesTesting
import TLSStreams
import UVFutures

struct Failure: Error {}

@MainActor let loop = EventLoop.main
@MainActor let future: Future<Int> = loop.succeeded(1)
@MainActor let other: Future<Int> = loop.succeeded(2)
@MainActor let text: Future<String> = loop.succeeded("a")
@MainActor let optional: Future<Int?> = loop.succeeded(nil)
@MainActor let done: Future<Void> = loop.succeeded()
@MainActor let futures: [Future<Int>] = []
@MainActor let promise = loop.makePromise(of: Int.self)
@MainActor let source = CancellationSource(on: loop)
@MainActor let bag = DisposeBag()
@MainActor let worker = try! EventLoop.onNewThread()
@MainActor let work = Deferred { loop.submit { 1 } }
@MainActor var members: [TCPConnection] = []
@MainActor var count = 0
@MainActor let names = ["a", "b"]

@MainActor var connection: TCPConnection { fatalError() }
@MainActor var context: TLSContext { fatalError() }
@MainActor var peer: TCPConnection { fatalError() }
@MainActor var stream: ByteStream { fatalError() }
@MainActor var directory: Directory { fatalError() }
@MainActor var file: File { fatalError() }
@MainActor var world: World { fatalError() }
@MainActor var server: TCPServer { fatalError() }
@MainActor var group: TCPServerGroup { fatalError() }

@MainActor func fetch(_ name: String) -> Future<Data> { fatalError() }
@MainActor func sign(_ bytes: Data) -> Future<Data> { fatalError() }
@MainActor func load(_ name: String) async throws -> Data { fatalError() }
@Sendable func hash(_ data: Data) -> Int { fatalError() }
@MainActor func save(_ value: Int) -> Future<Void> { fatalError() }
@MainActor func download(_ name: String, completion: @escaping (Data?, (any Error)?) -> Void) {}
