/// The tasks that wait for futures of a loop. Other threads name a waiting task by its ticket, so no cell
/// crosses threads.
///
/// A place is used for one task after the other. The number of a ticket is never used again, so a ticket has
/// no effect after its wait has ended. The waiting task owns its observer, and the parking lot does not.
struct ParkingLot {
    /// The name of one wait.
    struct Ticket: Sendable {
        let place: Int
        fileprivate let number: UInt64
    }

    private struct Place {
        var number: UInt64
        /// The observer of the waiting task, or `nil` if the place is free.
        var observer: CellPointer?
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

    /// Puts `observer` into the next place.
    mutating func enter(_ observer: CellPointer) -> Ticket {
        lastNumber += 1
        count += 1
        let (index, place) = (nextPlace, Place(number: lastNumber, observer: observer))
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
        places[place].observer = nil
        places[place].nextFree = firstFree
        firstFree = place
        count -= 1
        if count == 0, places.count > Self.keptRoom { (places, firstFree) = ([], nil) }
    }

    /// Returns the observer that waits with `ticket`, or `nil` if that wait is over.
    func observer(with ticket: Ticket) -> Cell? {
        guard ticket.place < places.count, places[ticket.place].number == ticket.number else { return nil }
        return places[ticket.place].observer?.object
    }

    /// The tickets of all waiting tasks, the oldest first.
    var tickets: [Ticket] {
        places.indices.filter { places[$0].observer != nil }
            .map { Ticket(place: $0, number: places[$0].number) }
            .sorted { $0.number < $1.number }
    }
}
