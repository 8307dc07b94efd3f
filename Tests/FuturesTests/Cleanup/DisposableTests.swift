import Futures
import Testing

struct DisposableTests {
    @Test("what is to be disposed of later is kept until then", arguments: Driver.allCases)
    func later(driver: Driver) throws {
        try withLoop(driver) { loop in
            let seen = Record()
            Disposer { seen.add("disposed") }.dispose(after: .ticks(1), on: loop)
            let task = Disposer { seen.add("released") }.dispose(after: .ticks(1_000), on: loop)
            #expect(seen.entries.isEmpty)
            try pass(.ticks(2), on: loop)
            #expect(seen.entries == ["disposed"])
            task.cancel()
            #expect(seen.entries == ["disposed", "released"])
        }
    }
}
