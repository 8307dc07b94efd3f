import Testing

@testable import FuturesTesting

struct ShrinkingTests {
    /// Shrinks `count` faults, one for each of the hosts 0, 1, and so on. Returns the hosts that are left, and
    /// the number of lists that were tried.
    private func shrink(_ count: Int, while isFailure: @escaping (Set<String>) -> Bool) -> ([String], Int) {
        let faults: [World.Fault] = (0..<count).map {
            .crash("\($0)", at: .seconds(Int64($0)), lasting: .seconds(1))
        }
        var (tries, shortest) = (0, count)
        var shrinking = Shrinking(1, faults) { _, faults in
            tries += 1
            #expect(faults.count < shortest)
            let fails = isFailure(Set(faults.flatMap(\.hosts)))
            if fails { shortest = faults.count }
            return fails
        }
        shrinking.shrink()
        #expect(shrinking.faults.count == shortest)
        return (shrinking.faults.flatMap(\.hosts), tries)
    }

    @Test("without faults there is nothing to try, and what fails without any is tried once")
    func none() {
        #expect(shrink(0) { _ in true } == ([], 0))
        #expect(shrink(8) { _ in true } == ([], 1))
    }

    @Test("the one fault that matters is found by halves")
    func one() {
        for number in 0..<8 { #expect(shrink(8) { $0.contains("\(number)") }.0 == ["\(number)"]) }
        #expect(shrink(8) { $0.contains("5") } == (["5"], 8))
        #expect(shrink(3) { $0.contains("1") } == (["1"], 5))
        #expect(shrink(1) { $0.contains("0") } == (["0"], 2))
    }

    @Test("faults that matter only together are found, wherever they are")
    func several() {
        #expect(shrink(8) { $0.isSuperset(of: ["0", "7"]) }.0 == ["0", "7"])
        #expect(shrink(9) { $0.isSuperset(of: ["2", "3", "8"]) }.0 == ["2", "3", "8"])
        // Only both or none can be left out.
        #expect(shrink(6) { !$0.isEmpty && $0.count.isMultiple(of: 2) }.0.count == 2)
    }
}
