import Glibc

/// Clients whose descriptors are above a limit that holds from then on.
final class Crowd {
    let clients: [PlainSocket]
    private let spare: CInt

    init(clients count: Int, limit: CInt) {
        var all = rlimit()
        unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &all)
        all.rlim_cur = all.rlim_max
        unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &all)
        var places: [CInt] = []
        while (places.last ?? 0) < limit { places.append(dup(STDIN_FILENO)) }
        clients = (0..<count).map { _ in PlainSocket.unconnected() }
        for place in places.dropFirst() { close(place) }
        spare = places[0]
        all.rlim_cur = rlim_t(limit)
        unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &all)
    }

    func connect(to port: Int) {
        for client in clients { client.connect(to: port) }
    }

    func giveBackSpare() { close(spare) }
}
