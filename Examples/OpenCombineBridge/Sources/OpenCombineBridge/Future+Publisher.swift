import OpenCombine
import UVFutures

extension UVFutures.Future {
    /// The future as a publisher of its value, on the loop's thread.
    ///
    /// Each subscriber waits for the future as others do: when it cancels, the future is asked to cancel if nobody else
    /// waits for it.
    var publisher: FuturePublisher<Value> { FuturePublisher(future: self) }
}

struct FuturePublisher<Output>: Publisher {
    typealias Failure = any Error

    fileprivate let future: UVFutures.Future<Output>

    func receive<Receiver: Subscriber>(subscriber: Receiver)
    where Receiver.Input == Output, Receiver.Failure == any Error {
        subscriber.receive(subscription: FutureSubscription(future, to: subscriber))
    }
}

private final class FutureSubscription<Receiver: Subscriber>: Subscription
where Receiver.Failure == any Error {
    private let future: UVFutures.Future<Receiver.Input>
    /// `nil` from the end on.
    private var subscriber: Receiver?
    /// What the subscriber waits for, once it has asked.
    private var wait: UVFutures.Future<Void>?

    init(_ future: UVFutures.Future<Receiver.Input>, to subscriber: Receiver) {
        self.future = future
        self.subscriber = subscriber
    }

    func request(_ demand: Subscribers.Demand) {
        guard demand > .none, wait == nil, subscriber != nil else { return }
        wait = future.mapResult { [self] result in
            guard let subscriber = subscriber.take() else { return }
            switch result {
            case .success(let value):
                _ = subscriber.receive(value)
                subscriber.receive(completion: .finished)
            case .failure(let error):
                subscriber.receive(completion: .failure(error))
            }
        }
    }

    func cancel() {
        subscriber = nil
        wait?.cancel()
    }
}
