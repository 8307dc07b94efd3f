import FuturesTesting
import Testing

@testable import Futures

struct ParkingLotTests {
    @Test("a ticket is good for one wait, though its place is taken again")
    func lateTicket() {
        let loop = EventLoop.virtual()
        let waits = (0..<2).map { _ in Cell.plain(loop.core, state: .pending, of: Int.self) }
        var lot = ParkingLot()
        let first = lot.enter(waits[0].pointer)
        #expect(lot.observer(with: first) === waits[0])
        lot.leave(first.place)
        #expect(lot.observer(with: first) == nil)
        let second = lot.enter(waits[1].pointer)
        #expect(second.place == first.place)
        #expect(lot.observer(with: first) == nil)
        #expect(lot.observer(with: second) === waits[1])
    }
}
