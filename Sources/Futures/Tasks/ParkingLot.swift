/// The tasks that wait for futures or elements of a loop. Other threads name a waiting task by its ticket, so no cell
/// crosses threads.
///
/// A place is used for one task after the other. The number of a ticket is never used again, so a ticket has
/// no effect after its wait has ended. The waiting task owns its waiter, and the parking lot does not.
struct ParkingLot {
    /// The name of one wait.
    struct Ticket: Sendable {
        let place: Int
        fileprivate let number: UInt64
    }

    /// The object that a task waits with: the observer of a future, or the wait for an element.
    @safe
    enum Waiter {
        case future(CellPointer)
        case element(Unmanaged<ElementWait>)
    }

    /// The number of places that are kept in memory when no task waits.
    private static let keptRoom = 4096

    /// The waiter of a place is `nil` if the place is free.
    private var places: [(number: UInt64, waiter: Waiter?)] = []
    private var free: [Int] = []
    private var lastNumber: UInt64 = 0

    /// The place for the next task.
    var nextPlace: Int { free.last ?? places.count }

    /// Puts `waiter` into the next place.
    mutating func enter(_ waiter: Waiter) -> Ticket {
        lastNumber += 1
        let index = free.popLast() ?? places.count
        if index == places.count { places.append((0, nil)) }
        places[index] = (lastNumber, waiter)
        return Ticket(place: index, number: lastNumber)
    }

    /// Frees `place`.
    mutating func leave(_ place: Int) {
        places[place].waiter = nil
        free.append(place)
        if free.count == places.count, free.count > Self.keptRoom { (places, free) = ([], []) }
    }

    /// Returns the waiter with `ticket`, or `nil` if that wait is over.
    func waiter(with ticket: Ticket) -> Waiter? {
        guard ticket.place < places.count, places[ticket.place].number == ticket.number else { return nil }
        return places[ticket.place].waiter
    }

    /// The waiters of all waiting tasks, in no order.
    var waiters: [Waiter] { places.compactMap { $0.waiter } }

    /// The tickets of all waiting tasks, the oldest first.
    var tickets: [Ticket] {
        places.indices.filter { places[$0].waiter != nil }
            .map { Ticket(place: $0, number: places[$0].number) }
            .sorted { $0.number < $1.number }
    }
}
