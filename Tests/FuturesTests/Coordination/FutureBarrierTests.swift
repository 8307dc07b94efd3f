import Futures
import Testing

struct FutureBarrierTests {
    @Test(
        "a barrier lets go of those who have arrived when there are enough, round by round",
        arguments: Driver.allCases)
    func barrier(driver: Driver) throws {
        try withLoop(driver) { loop in
            let barrier = FutureBarrier(parties: 3, on: loop)
            for _ in 0..<2 {
                let first = barrier.arrive()
                let gone = barrier.arrive()
                #expect(gone.cancel())
                let second = barrier.arrive()
                #expect(barrier.waitingCount == 2 && !first.isCompleted && !second.isCompleted)
                let third = barrier.arrive()
                #expect(first.isCompleted && second.isCompleted && third.isCompleted)
            }
            #expect(barrier.waitingCount == 0)
            expect(FutureBarrier(parties: 2, on: loop).arrive(), failsWith: FutureError.closed("barrier"))
            #expect(FutureBarrier(parties: 1, on: loop).arrive().isCompleted)
        }
    }
}
