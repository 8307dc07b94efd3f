import Futures
import Testing

struct CombinatorsTests {
    @Test("the verbs are those of futures", arguments: Driver.allCases)
    func verbs(driver: Driver) throws {
        try withLoop(driver) { loop in
            let one = Deferred.completed(.success(1))
            let failing = Deferred<Int>.completed(.failure(Failure(1)))
            let seen = Record()
            try expect(one.flatMap { value in loop.submit { value + 1 } }.start(on: loop), succeedsWith: 2)
            try expect(
                one.flatMap { value in Deferred.completed(.success("\(value)")) }.start(on: loop),
                succeedsWith: "1")
            try expect(failing.recover { _ in 2 }.start(on: loop), succeedsWith: 2)
            try expect(
                failing.transform { $0.flatMapError { _ in loop.submit { 3 } } }.start(on: loop),
                succeedsWith: 3)
            expect(
                failing.transform { $0.mapError { _ in Failure(4) } }.start(on: loop), failsWith: Failure(4))
            try expect(one.transform { $0.tap { seen.add($0) } }.start(on: loop), succeedsWith: 1)
            expect(failing.transform { $0.tapError { seen.add($0) } }.start(on: loop), failsWith: Failure(1))
            expect(
                failing.transform { $0.always { seen.add("always") } }.start(on: loop), failsWith: Failure(1))
            try expect(one.transform { $0.mapResult { "\($0)" } }.start(on: loop), succeedsWith: "success(1)")
            try expect(
                failing.transform { $0.recover { _ in 5 }.map { $0 + 1 } }.start(on: loop), succeedsWith: 6)
            #expect(seen.entries == ["1", "Failure(code: 1)", "always"])
        }
    }

    @Test("combined work is started together", arguments: Driver.allCases)
    func combined(driver: Driver) throws {
        try withLoop(driver) { loop in
            var runs = 0
            let number = Deferred {
                runs += 1
                return loop.submit { runs }
            }
            let pair = number.and(.completed(.success("a")))
            for run in 1...2 {
                let values = try loop.run(until: pair.start(on: loop))
                #expect(values.0 == run && values.1 == "a")
            }
            let three = try loop.run(
                until: combine(number, .completed(.success(2.0)), .completed(.success("c"))).start(on: loop))
            #expect(three.0 == 3 && three.1 == 2.0 && three.2 == "c")
            let rest = loop.makePromise(of: Int.self)
            let failing = Deferred<Int>.completed(.failure(Failure(1))).and(Deferred { rest.future }).map {
                $0.0
            }
            expect(failing.start(on: loop), failsWith: Failure(1))
            #expect("\(rest.future)" == "Future(cancelled)")
        }
    }
}
