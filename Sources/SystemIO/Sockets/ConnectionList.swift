/// The open connections of a server, in the order in which they were added. Each connection stores its index in the
/// list, so that it can be removed at once. The class is not generic, because a generic class would be slower.
@safe
final class ConnectionList {
    private struct Place {
        /// `nil` once the connection has been removed.
        var connection: SocketConnection?
        let since: UInt64
    }

    // Exclusive access is not checked at run time: no code of users runs while the list changes.
    @exclusivity(unchecked) private var places: [Place] = []
    /// The number of places at the start of the list in which no peer is awaited any more.
    private var settled = 0
    private(set) var count = 0

    var all: [SocketConnection] { unsafe places.compactMap(\.connection) }
    var isEmpty: Bool { count == 0 }

    func add(_ connection: SocketConnection, at time: UInt64) {
        count += 1
        connection.socket.place = unsafe UInt32(places.count)
        unsafe places.append(Place(connection: connection, since: time))
    }

    func remove(_ connection: SocketConnection) {
        count -= 1
        unsafe places[Int(connection.socket.place)].connection = nil
        if unsafe places.count > 2 * count + 16 { closeRanks() }
    }

    /// Puts `connection` behind all others.
    func renew(_ connection: SocketConnection, at time: UInt64) {
        remove(connection)
        add(connection, at: time)
    }

    /// Removes the places without a connection.
    private func closeRanks() {
        unsafe settled = places[..<settled].count { $0.connection != nil }
        unsafe places.removeAll { $0.connection == nil }
        for index in unsafe places.indices { unsafe places[index].connection?.socket.place = UInt32(index) }
    }

    /// The time since which the first awaited peer in the list has been awaited. `nil` if no peer is awaited.
    var awaitedSince: UInt64? {
        while unsafe settled < places.count {
            if unsafe places[settled].connection?.isAwaited == true { return unsafe places[settled].since }
            settled += 1
        }
        return nil
    }

    /// The connection whose peer has been awaited longest, since `time` or before. Skips a peer that owes an answer or
    /// has not been read from, if its bytes have arrived. Each check for such bytes is a system call, so only a few are
    /// made.
    func awaited(since time: UInt64) -> SocketConnection? {
        guard awaitedSince != nil else { return nil }
        var looks = 64
        for place in unsafe places[settled...] where place.connection?.isAwaited == true {
            guard place.since <= time, looks > 0, let connection = place.connection else { return nil }
            let mayHaveAnswered = connection.bytesReceived == 0 || connection.duty == .answer
            if !mayHaveAnswered || !connection.socket.hasArrivals { return connection }
            looks -= 1
        }
        return nil
    }
}
