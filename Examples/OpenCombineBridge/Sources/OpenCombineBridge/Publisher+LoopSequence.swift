import OpenCombine
import UVFutures

extension Publisher {
    /// The values as a sequence: the publisher is asked for one when the consumer asks. It has to publish on the loop's
    /// thread.
    func values(on loop: EventLoop) -> LoopSequence<Output> {
        LoopSequence(on: loop) {
            let subscriber = OneByOne<Output, Failure>(on: loop)
            subscribe(subscriber)
            return LoopSequence.AsyncIterator(next: subscriber.next, onStop: subscriber.stop)
        }
    }
}

private final class OneByOne<Input, Failure: Error>: Subscriber {
    private let loop: EventLoop
    private var subscription: (any Subscription)?
    private var waiting: Promise<Input?>?
    private var isDemanded = false
    /// A value that was asked for by a wait that has been cancelled.
    private var kept: Input?
    private var completion: Subscribers.Completion<Failure>?

    init(on loop: EventLoop) { self.loop = loop }

    func next() -> UVFutures.Future<Input?> {
        if let value = kept.take() { return loop.succeeded(value) }
        let promise = loop.makePromise(of: Input?.self)
        promise.onCancelRequest { [self] in
            waiting = nil
            return .cancel
        }
        waiting = promise
        if completion != nil {
            end()
        } else if !isDemanded {
            isDemanded = true
            subscription?.request(.max(1))
        }
        return promise.future
    }

    func stop() {
        subscription?.cancel()
        subscription = nil
    }

    func receive(subscription: any Subscription) { self.subscription = subscription }

    func receive(_ input: Input) -> Subscribers.Demand {
        isDemanded = false
        if let waiting = waiting.take() { waiting.succeed(input) } else { kept = input }
        return .none
    }

    func receive(completion: Subscribers.Completion<Failure>) {
        self.completion = completion
        end()
    }

    private func end() {
        guard let waiting = waiting.take(), let completion else { return }
        switch completion {
        case .finished: waiting.succeed(nil)
        case .failure(let error): waiting.fail(error)
        }
    }
}
