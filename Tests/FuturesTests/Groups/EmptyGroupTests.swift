import Futures
import FuturesTesting
import Testing

/// Groups of nothing: what they have to wait for is over.
enum EmptyGroup: String, CaseIterable, Codable, CustomTestStringConvertible {
    case traverse, traverseOneByOne, traverseOnContext, traverseWithToken
    case traverseSettled, traverseSettledOneByOne, traverseSettledOnContext, traverseSettledWithToken
    case forEach, forEachAtOnce, forEachOnContext, forEachWithToken
    case repeatTimes, repeatWhile, repeatWithToken
    case all, allAtTheEnd, allWithToken, allSettled, allSettledWithToken, mapEach
    case sequence, reduce, reduceInto, fold, find, findWithToken, firstCompleted, typedAll
    case race, raceWithToken, firstSuccess, firstOfMore, inCompletionOrder

    var testDescription: String { rawValue }

    private typealias Number = Future<Int>

    /// What the group comes to, as a text.
    func make(on loop: EventLoop?) -> Future<String> {
        let none: [Number] = []
        func body(_: Int) throws -> Number {
            Issue.record("there is nothing to run this for")
            throw Failure()
        }
        func text<Value>(_ future: Future<Value>) -> Future<String> {
            // As if by hand: a step would wait for its turn.
            guard let result = future.result else { return future.map { "\($0)" } }
            future.ignoreFailure()
            return future.loop.completed(result.map { "\($0)" })
        }
        // The verbs of a loop have one.
        let own = loop ?? .virtual()
        let source = CancellationSource(on: own)
        let token = source.token
        return withExtendedLifetime(source) {
            switch self {
            case .traverse: text(own.traverse([], body))
            case .traverseOneByOne: text(own.traverse([], maxConcurrent: 1, body))
            case .traverseOnContext: text(own.traverse([], on: .nextTurn, body))
            case .traverseWithToken: text(own.traverse([], token: token, body))
            case .traverseSettled: text(own.traverseSettled([], body))
            case .traverseSettledOneByOne: text(own.traverseSettled([], maxConcurrent: 1, body))
            case .traverseSettledOnContext: text(own.traverseSettled([], on: .whenIdle, body))
            case .traverseSettledWithToken:
                text(own.traverseSettled([], maxConcurrent: 2, token: token, body))
            case .forEach: text(own.forEach([], body))
            case .forEachAtOnce: text(own.forEach([], maxConcurrent: 5, body))
            case .forEachOnContext: text(own.forEach([], on: .immediate, body))
            case .forEachWithToken: text(own.forEach([], token: token, body))
            case .repeatTimes: text(own.repeat(times: 0, body))
            case .repeatWhile: text(own.repeat(while: { false }) { try body(0) })
            case .repeatWithToken: text(own.repeat(while: { false }, token: token) { try body(0) })
            case .all: text(Number.all(none, on: loop))
            case .allAtTheEnd: text(Number.all(none, failFast: false, on: loop))
            case .allWithToken: text(Number.all(none, on: loop, token: token))
            case .allSettled: text(Number.allSettled(none, on: loop))
            case .allSettledWithToken: text(Number.allSettled(none, on: loop, token: token))
            case .mapEach: text(Number.mapEach(none, on: loop) { _, index in index })
            case .sequence: text(Number.sequence(none, on: loop))
            case .reduce: text(Number.reduce(none, 0, on: loop) { $0 + $1 })
            case .reduceInto: text(Number.reduce(none, into: 0, on: loop) { $0 += $1 })
            case .fold: text(Number.fold(none, 0, on: loop) { _, number in try body(number) })
            case .find: text(Number.find(none, on: loop) { _ in true })
            case .findWithToken: text(Number.find(none, on: loop, token: token) { _ in true })
            case .firstCompleted: text(Number.firstCompleted(0, of: none, on: loop))
            case .typedAll: text(TypedFuture<Int, Failure>.all([], on: loop).erased)
            case .race: text(Number.race(none, on: loop))
            case .raceWithToken: text(Number.race(none, on: loop, token: token))
            case .firstSuccess: text(Number.firstSuccess(none, on: loop))
            case .firstOfMore: text(Number.firstCompleted(1, of: none, on: loop))
            case .inCompletionOrder: text(Number.inCompletionOrder(none, on: loop).first())
            }
        }
    }

    /// A typed future and the element of a sequence are there after a callback.
    var isAtOnce: Bool { self != .typedAll && self != .inCompletionOrder }

    var outcome: String {
        switch self {
        case .forEach, .forEachAtOnce, .forEachOnContext, .forEachWithToken, .repeatTimes, .repeatWhile,
            .repeatWithToken:
            "Future(success: ())"
        case .reduce, .reduceInto, .fold: "Future(success: 0)"
        case .find, .findWithToken, .inCompletionOrder: "Future(success: nil)"
        case .race, .raceWithToken:
            "Future(failure: race was given no futures; give it at least one)"
        case .firstSuccess: "Future(failure: firstSuccess was given no futures; give it at least one)"
        case .firstOfMore:
            "Future(failure: count must be from 0 to 0, the number of futures, not 1)"
        default: "Future(success: [])"
        }
    }

    /// Those that are asked of no loop.
    static let ofNoLoop: [EmptyGroup] = [
        .all, .allAtTheEnd, .allSettled, .mapEach, .sequence, .reduce, .reduceInto, .fold, .find,
        .firstCompleted, .typedAll, .race, .firstSuccess, .firstOfMore, .inCompletionOrder,
    ]
}

struct EmptyGroupTests {
    @Test("a group of nothing completes at once", arguments: EmptyGroup.allCases)
    func atOnce(group: EmptyGroup) throws {
        try withLoop(.virtual) { loop in
            let future = group.make(on: loop)
            if group.isAtOnce { #expect("\(future)" == group.outcome) }
            _ = try? loop.run(until: future)
            #expect("\(future)" == group.outcome)
            // In a callback as well, where it needs no loop.
            let inside = try loop.run(
                until: loop.submit { [group.make(on: loop), group.make(on: .current)] })
            try settle(loop)
            for future in inside { #expect("\(future.ignoreFailure())" == group.outcome) }
        }
    }

    @Test(
        "a group of nothing traps outside of callbacks, unless it is given a loop",
        arguments: EmptyGroup.ofNoLoop)
    func outside(group: EmptyGroup) async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            [group] in
            _ = group.make(on: nil)
        }
        let printed = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(
            printed.contains(
                "A group without futures cannot know its event loop. Add the argument on: loop, or call it "
                    + "from a loop's callback."
            ))
    }
}
