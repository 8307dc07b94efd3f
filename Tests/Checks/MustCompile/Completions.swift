import UVFutures

/// How to complete, by a leading dot.
func complete(_ promise: Promise<Int>, _ one: Future<Int>, loop: EventLoop, urgent: Bool) {
    promise.complete(.cancelled)
    promise.complete(.using(one))
    promise.complete(.success(1))
    promise.complete(.failure(CancellationError()))
    promise.complete(urgent ? .success(1) : .cancelled)
    promise.completeIfPending { .cancelled }
    promise.completeIfPending { urgent ? .success(1) : .using(one) }
    promise.onCancelRequest { .complete(.using(one)) }

    var futures = [
        loop.completed(.success(1)), loop.completed(.using(one)), loop.completed(.success(1), after: .zero),
    ]
    let cancelled: Future<Int> = loop.completed(.cancelled)
    futures.append(cancelled)
    futures.append(loop.completed(.failure(CancellationError())))
    futures.append(loop.flatSubmit { .success(1) })
    futures.append(loop.flatSubmit { urgent ? .using(one) : .cancelled })

    futures.append(one.flatMap { .success($0) })
    futures.append(one.flatMap { $0 > 1 ? .success($0) : .cancelled })
    futures.append(one.flatMap { _ in .using(one) })
    futures.append(
        one.flatMap { value in
            if value > 1 { return .using(one) }
            return .success(value)
        })
    futures.append(
        one.flatMap { value in
            switch value {
            case 0: .cancelled
            case 1: .failure(CancellationError())
            default: .success(value)
            }
        })
    futures.append(one.flatMapResult { $0.isSuccess ? .success(1) : .cancelled })
    futures.append(one.flatMapError { .failure($0) })
    futures.append(one.flatMapError(including: .cancellation) { _ in .success(1) })
    futures.append(one.flatMapError(including: .onlyCancellation) { _ in .success(1) })
    futures.append(one.flatTap { $0 > 1 ? .success(()) : .cancelled })
    futures.append(one.flatTapError { _ in .cancelled })
    futures.append(one.flatTapResult { _ in .using(loop.succeeded()) })
    futures.append(one.flatAlways { .success(()) })
    futures.append(one.timeout(after: .zero, with: .cancelled))
    let text = one.flatMap { .success("\($0)") }.map { $0.count }
    futures.append(text)
    futures.append(one.map { _ in urgent ? FutureCompletion.success(1) : .cancelled }.flatten())
}
