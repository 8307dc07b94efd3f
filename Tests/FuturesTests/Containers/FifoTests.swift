import Testing

@testable import Futures

struct FifoTests {
    @Test("first in, first out, across many elements, optional ones too")
    func fifo() {
        var fifo = Fifo<Int?>()
        var next = 0
        for number in 0..<1_000 {
            fifo.append(number % 3 == 0 ? nil : number)
            if number % 4 != 0 {
                let element = fifo.takeFirst()
                #expect(element == .some(next % 3 == 0 ? nil : next))
                next += 1
            }
        }
        #expect(fifo.count == 1_000 - next)
        while fifo.takeFirst() != nil { next += 1 }
        #expect(next == 1_000 && fifo.isEmpty)
    }
}
