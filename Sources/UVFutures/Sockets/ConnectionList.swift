/// The open connections of a server, each of which knows its place. Of no generic type: that would be slower.
final class ConnectionList {
    private(set) var all: [SocketConnection] = []
    /// Stored apart: only then is no look at it checked at run time.
    private(set) var count = 0

    var isEmpty: Bool { count == 0 }

    func add(_ connection: SocketConnection) {
        connection.socket.place = UInt32(count)
        count += 1
        all.append(connection)
    }

    func remove(_ connection: SocketConnection) {
        count -= 1
        let last = all.removeLast()
        guard last !== connection else { return }
        last.socket.place = connection.socket.place
        all[Int(last.socket.place)] = last
    }
}
