import Testing

@testable import Futures

struct OpenFilesTests {
    @Test("an operation counts until it ends or is forgotten, and once")
    func counts() {
        let count = RunningCount()
        let first = count.begin()
        do {
            let second = count.begin()
            #expect(count.value == 2)
            withExtendedLifetime(second) {}
        }
        #expect(count.value == 1)
        first.end()
        first.end()
        #expect(count.value == 0)
    }
}
