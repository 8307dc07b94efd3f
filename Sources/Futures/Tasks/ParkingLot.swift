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

    private struct Place {
        var number: UInt64
        /// The waiter of the waiting task, or `nil` if the place is free.
        var waiter: Waiter?
        var nextFree: Int?
    }

    /// The number of places that are kept in memory when no task waits.
    private static let keptRoom = 4096

    private var places: [Place] = []
    private var firstFree: Int?
    private var count = 0
    private var lastNumber: UInt64 = 0

    /// The place for the next task.
    var nextPlace: Int { firstFree ?? places.count }

    /// Puts `waiter` into the next place.
    mutating func enter(_ waiter: Waiter) -> Ticket {
        lastNumber += 1
        count += 1
        let (index, place) = (nextPlace, Place(number: lastNumber, waiter: waiter))
        if firstFree == nil {
            places.append(place)
        } else {
            firstFree = places[index].nextFree
            places[index] = place
        }
        return Ticket(place: index, number: lastNumber)
    }

    /// Frees `place`.
    mutating func leave(_ place: Int) {
        places[place].waiter = nil
        places[place].nextFree = firstFree
        firstFree = place
        count -= 1
        if count == 0, places.count > Self.keptRoom { (places, firstFree) = ([], nil) }
    }

    /// Returns the waiter with `ticket`, or `nil` if that wait is over.
    func waiter(with ticket: Ticket) -> Waiter? {
        guard ticket.place < places.count, places[ticket.place].number == ticket.number else { return nil }
        return places[ticket.place].waiter
    }

    /// The tickets of all waiting tasks, the oldest first.
    var tickets: [Ticket] {
        places.indices.filter { places[$0].waiter != nil }
            .map { Ticket(place: $0, number: places[$0].number) }
            .sorted { $0.number < $1.number }
    }
}
