import TestSupport
import Testing

@testable import FuturesTesting

struct EventQueueTests {
    private final class Event: SimulatedEvent {
        let time: UInt64
        let order: UInt64

        init(_ time: UInt64, _ order: UInt64) { (self.time, self.order) = (time, order) }

        func happen() {}
    }

    @Test("events come in the order of their times, and those of one time in their order")
    func order() {
        var generator = SeededGenerator()
        var queue = EventQueue()
        var expected: [(UInt64, UInt64)] = []
        for number in 0..<500 {
            let event = Event(UInt64.random(in: 0..<50, using: &generator), UInt64(number))
            queue.add(event, at: event.time, order: event.order)
            expected.append((event.time, event.order))
            // Some leave in between: always the first.
            guard number % 5 == 4 else { continue }
            let first = expected.min { $0 < $1 }!
            expected.removeAll { $0 == first }
            let taken = queue.takeFirst() as! Event
            #expect((taken.time, taken.order) == first)
        }
        for (time, order) in expected.sorted(by: { $0 < $1 }) {
            #expect(queue.nextTime == time)
            let taken = queue.takeFirst() as! Event
            #expect((taken.time, taken.order) == (time, order))
        }
        #expect(queue.nextTime == nil)
    }
}
