internal import FoundationEssentials
internal import Futures

/// A request of a ``PipelinedClient``: its bytes, and the promise of its answer.
final class PipelinedRequest<Message>: PromiseOwner, LineMember {
    private(set) var bytes: Data
    var place: Int?
    // Behind `place`, since it then takes no memory.
    let mayRepeat: Bool
    /// The number of times that the request was written.
    private(set) var attempts = 0
    /// The error that ended the connection to which the request was last written.
    private var loss: (any Error)?
    /// `nil` once the request is over. A request that is over keeps its place under way, for the order of the answers.
    private var promise: OwnedPromise<Message>?
    /// The client in whose line the request waits.
    weak var client: PipelinedClient<Message>?
    var timer: ScheduledTask<Void>?

    init(_ bytes: Data, mayRepeat: Bool) {
        self.bytes = bytes
        self.mayRepeat = mayRepeat
    }

    var isOver: Bool { promise == nil }

    /// Makes the future of the answer.
    func begin(on loop: LoopCore) -> Future<Message> {
        let promise = OwnedPromise<Message>(on: loop)
        promise.belong(to: self)
        self.promise = promise
        return promise.future
    }

    /// Returns the bytes to write. The request keeps them only if it may be repeated.
    func takeBytes() -> Data {
        attempts += 1
        let taken = bytes
        if !mayRepeat { bytes = Data() }
        return taken
    }

    func succeed(_ message: Message) { promise.take()?.succeed(message) }

    func wasLost(by error: any Error) { loss = error }

    /// Fails the request. Returns whether the server may have carried it out.
    @discardableResult
    func fail(_ error: any Error) -> Bool {
        promise.take()?.fail(loss.map { PipelineError.answerLost(cause: $0) } ?? error)
        return loss != nil
    }

    func cancellationRequested() {
        promise = nil
        let client = client
        client?.remove(self)
        bytes = Data()
        client?.endIfDrained()
    }

    var subject: String? { "a request of a PipelinedClient" }
}
