import Futures
import Testing

struct MakingTests {
    @Test(
        "the completed future of nothing is one and the same while the loop runs", arguments: Driver.allCases)
    func succeeded(driver: Driver) throws {
        try withLoop(driver) { loop in
            try loop.run(until: loop.succeeded())
            let grown = loop.submit {
                let before = loop.statistics.futures
                let futures = (0..<100).map { _ in loop.succeeded() }
                return withExtendedLifetime(futures) { loop.statistics.futures - before }
            }
            try expect(grown, succeedsWith: 0)
        }
    }
}
