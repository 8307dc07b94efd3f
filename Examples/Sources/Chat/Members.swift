/// Members in an order that only their coming and going decides, so that a simulated world is the same each time.
struct Members {
    private(set) var all: [Member] = []
    private var places: [ObjectIdentifier: Int] = [:]

    mutating func add(_ member: Member) {
        places[ObjectIdentifier(member)] = all.count
        all.append(member)
    }

    /// Removes a member, and puts the last one in its place.
    mutating func remove(_ member: Member) {
        guard let place = places.removeValue(forKey: ObjectIdentifier(member)) else { return }
        let last = all.removeLast()
        guard last !== member else { return }
        all[place] = last
        places[ObjectIdentifier(last)] = place
    }
}
