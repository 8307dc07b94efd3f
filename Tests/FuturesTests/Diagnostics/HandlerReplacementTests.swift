import Futures
import FuturesTesting
import TestSupport
import Testing

/// A value of users that an object of the library holds, and in whose place another one comes.
enum Replaced: String, CaseIterable, CustomTestStringConvertible {
    case onUnhandledFailure, onSlowCallback, onEmptyChange
    case channelAbort, channelElements, conditionBreak, queueAbort, cache, cacheLimit

    var testDescription: String { rawValue }

    /// Returns a closure that puts `object` in the place, or something else for `nil`, and one that reads the place.
    func place(on loop: EventLoop) -> (set: (AnyObject?) -> Void, read: () -> Void) {
        switch self {
        case .onUnhandledFailure:
            return ({ o in loop.onUnhandledFailure = { _ in _ = o } }, { _ = loop.onUnhandledFailure })
        case .onSlowCallback:
            return (
                { o in loop.onSlowCallback(longerThan: .seconds(9)) { _ in _ = o } }, { try? settle(loop) }
            )
        case .onEmptyChange:
            let queue = FutureQueue(on: loop)
            return ({ o in queue.onEmptyChange = { _ in _ = o } }, { _ = queue.onEmptyChange })
        case .channelAbort:
            let channel = FutureChannel<Int>(capacity: 1, on: loop)
            return (
                { channel.abort(with: Holder(object: $0)) },
                { _ = (channel.closedError, channel.isClosed, channel.trySend(1)) }
            )
        case .channelElements:
            let channel = FutureChannel<AnyObject?>(capacity: 9, on: loop)
            return (
                {
                    while channel.tryReceive() != nil {}
                    _ = channel.trySend($0)
                }, { _ = (channel.count, channel.trySend(nil), channel.tryReceive()) }
            )
        case .conditionBreak:
            let condition = FutureCondition(on: loop)
            return ({ condition.break(Holder(object: $0)) }, { condition.wait().ignoreFailure() })
        case .queueAbort:
            let queue = FutureQueue(on: loop)
            return (
                { o in
                    queue.abort(with: Failure())
                    queue.enqueue { () -> Void in _ = o }.ignoreFailure()
                }, { _ = (queue.isEmpty, queue.queuedCount, queue.runningCount) }
            )
        case .cache, .cacheLimit:
            let cache = FutureCache<Int, AnyObject?>(on: loop)
            return (
                { [self] in
                    if self == .cacheLimit { cache.costLimit = 0 }
                    cache.costLimit = 9
                    cache.set($0, for: 1)
                }, { _ = (cache.count, cache.value(for: 1)) }
            )
        }
    }
}

/// An error that holds an object.
private struct Holder: Error, @unchecked Sendable {
    let object: AnyObject?
}

struct HandlerReplacementTests {
    @Test(
        "the deinit of what was held before finds everything in place, and may put a third thing there",
        arguments: Replaced.allCases)
    func replaced(_ what: Replaced) throws {
        try withLoop(.virtual) { loop in
            do {
                let place = what.place(on: loop)
                expectReplaceable(set: place.set, read: place.read)
            }
            loop.onUnhandledFailure = nil
            loop.onSlowCallback(nil)
        }
    }

    @Test("the deinit of a fold's total finds the next total in its place, and may complete an input")
    func total() throws {
        try withLoop(.virtual) { loop in
            let inputs = (0..<3).map { _ in loop.makePromise(of: Int.self) }
            let next = loop.makePromise(of: Witness.self)
            let fold = Future.fold(
                inputs.map(\.future), Witness { inputs[1].fail(Failure()) }
            ) { _, _ in next.future }
            inputs[0].succeed(1)
            try settle(loop)
            next.succeed(Witness {})
            try settle(loop)
            #expect(throws: Failure.self) { try loop.run(until: fold) }
        }
    }
}
