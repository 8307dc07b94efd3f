/// The open connections of a server, each of which knows its place. Not generic, because that would be slower.
@safe
final class ConnectionList {
    // Not checked at run time: nothing of users runs while the list changes.
    @exclusivity(unchecked) private var list: [SocketConnection] = []

    var all: [SocketConnection] { unsafe list }
    var count: Int { unsafe list.count }
    var isEmpty: Bool { unsafe list.isEmpty }

    func add(_ connection: SocketConnection) {
        connection.socket.place = UInt32(count)
        unsafe list.append(connection)
    }

    func remove(_ connection: SocketConnection) {
        let last = unsafe list.removeLast()
        guard last !== connection else { return }
        last.socket.place = connection.socket.place
        unsafe list[Int(last.socket.place)] = last
    }
}
