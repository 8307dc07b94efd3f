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

    @Test(
        "a lot that was large forgets its places once nobody waits, and no ticket is good for anything then")
    func large() {
        let loop = EventLoop.virtual()
        let wait = Cell.plain(loop.core, state: .pending, of: Int.self)
        var lot = ParkingLot()
        let tickets = (0..<5_000).map { _ in lot.enter(.future(wait.pointer)) }
        for ticket in tickets.dropLast() { lot.leave(ticket.place) }
        #expect(lot.waiters.count == 1 && lot.waiter(with: tickets[4_999]) != nil)
        lot.leave(4_999)
        #expect(lot.nextPlace == 0 && lot.waiters.isEmpty)
        #expect(tickets.allSatisfy { lot.waiter(with: $0) == nil })
    }
}
