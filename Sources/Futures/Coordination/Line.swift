/// A member of a ``Line``. The member stores its place.
package protocol LineMember: AnyObject {
    /// The place of the member. `nil` if it is in no line. Only the line changes it.
    var place: Int? { get set }
}

/// A queue, first in, first out. Members can leave from any place. Every operation takes constant time on
/// average.
///
/// A member that leaves from the middle leaves a gap. The line removes its gaps when they outnumber the
/// members.
package struct Line<Member: LineMember> {
    private var places: [Member?] = []
    private var head = 0
    /// The number of members.
    package private(set) var count = 0

    package init() {}

    /// Whether there are no members.
    package var isEmpty: Bool { count == 0 }

    /// The member that is first in line.
    package var first: Member? { isEmpty ? nil : places[head] }

    /// Adds `member`, which is in no line, at the end.
    package mutating func append(_ member: Member) {
        member.place = places.count
        places.append(member)
        count += 1
    }

    /// Removes the first member, and returns it.
    package mutating func takeFirst() -> Member? {
        guard let member = first else { return nil }
        remove(member)
        return member
    }

    /// Removes `member`. Does nothing if `member` is in no line. `member` must not be in a different line.
    package mutating func remove(_ member: Member) {
        guard let place = member.place else { return }
        member.place = nil
        places[place] = nil
        count -= 1
        closeUp()
    }

    /// The members, in order.
    package var all: [Member] { places[head...].compactMap { $0 } }

    /// Removes all members, and returns them in order.
    package mutating func takeAll() -> [Member] {
        let members = all
        for member in members { member.place = nil }
        clear()
        return members
    }

    private mutating func closeUp() {
        if isEmpty { return clear() }
        while places[head] == nil { head += 1 }
        guard places.count > 2 * count + 32 else { return }
        places = places[head...].filter { $0 != nil }
        head = 0
        for (index, member) in places.enumerated() { member?.place = index }
    }

    private mutating func clear() {
        places.removeAll(keepingCapacity: places.count <= 64)
        head = 0
        count = 0
    }
}
