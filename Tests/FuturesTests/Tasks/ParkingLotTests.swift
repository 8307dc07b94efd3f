import FuturesTesting
import Testing

@testable import Futures

struct ParkingLotTests {
    @Test("a ticket is good for one wait, though its place is taken again")
    func lateTicket() {
        let loop = EventLoop.virtual()
        let wait = Cell.plain(loop.core, state: .pending, of: Int.self)
        var lot = ParkingLot()
        let first = lot.enter(.future(wait.pointer))
        #expect(lot.waiter(with: first) != nil)
        lot.leave(first.place)
        #expect(lot.waiter(with: first) == nil)
        let second = lot.enter(.future(wait.pointer))
        #expect(second.place == first.place)
        #expect(lot.waiter(with: first) == nil)
        #expect(lot.waiter(with: second) != nil)
    }
}
