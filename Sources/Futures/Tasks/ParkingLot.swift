/// The tasks that wait for futures of a loop, by number, for other threads to speak of: nothing that crosses threads
/// holds a cell.
///
/// A place is taken again and again, a number never: one that comes too late means nothing. What stands here is owned
/// by the task that waits.
struct ParkingLot {
    struct Ticket: Sendable {
        let place: Int
        fileprivate let number: UInt64
    }

    private struct Place {
        var number: UInt64
        /// Whoever waits here; `nil` if the place is free.
        var observer: CellPointer?
        var nextFree: Int?
    }

    /// Room for so many is kept when none are left.
    private static let keptRoom = 4096

    private var places: [Place] = []
    private var firstFree: Int?
    private var count = 0
    private var lastNumber: UInt64 = 0

    /// Where the next one goes.
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

    /// Whoever has the ticket, if that one still waits.
    func observer(with ticket: Ticket) -> Cell? {
        guard ticket.place < places.count, places[ticket.place].number == ticket.number else { return nil }
        return places[ticket.place].observer?.object
    }

    /// Of all who wait, first come, first.
    var tickets: [Ticket] {
        places.indices.filter { places[$0].observer != nil }
            .map { Ticket(place: $0, number: places[$0].number) }
            .sorted { $0.number < $1.number }
    }
}
