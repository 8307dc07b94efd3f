/// The open connections of a server. Each connection stores its index in the list, so that it can be removed
/// at once. The class is not generic, because a generic class would be slower.
@safe
final class ConnectionList {
    // Exclusive access is not checked at run time: no code of users runs while the list changes.
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
