/// The tasks that wait for futures of a loop, by numbers that other threads can use: nothing that crosses threads
/// holds a cell.
///
/// A place is used again and again, a number never: a number that comes too late means nothing. The waiting task owns
/// what stands here.
struct ParkingLot {
    struct Ticket: Sendable {
        let place: Int
        fileprivate let number: UInt64
    }

    private struct Place {
        var number: UInt64
        /// The observer that waits here, or `nil` if the place is free.
        var observer: CellPointer?
        var nextFree: Int?
    }

    /// The room that is kept when none are left.
    private static let keptRoom = 4096

    private var places: [Place] = []
    private var firstFree: Int?
    private var count = 0
    private var lastNumber: UInt64 = 0

    /// The place for the next task.
    var nextPlace: Int { firstFree ?? places.count }

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

    mutating func leave(_ place: Int) {
        places[place].observer = nil
        places[place].nextFree = firstFree
        firstFree = place
        count -= 1
        if count == 0, places.count > Self.keptRoom { letGoOfRoom() }
    }

    private mutating func letGoOfRoom() {
        places = []
        firstFree = nil
    }

    /// Returns the observer with the ticket, if it still waits.
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
