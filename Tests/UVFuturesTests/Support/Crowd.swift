import CFuturesSystem
import CLibUV
import FuturesTesting
import Glibc
import UVFutures

/// Clients beside which a limit of descriptors leaves room for few others, from then on.
final class Crowd {
    private(set) var clients: [Peer] = []
    private var sockets: [PlainSocket] = []
    private let way: Way

    private enum Way {
        /// The clients have descriptors above the limit. `spare` can be given back.
        case system(spare: CInt)
        /// The clients have descriptors of the host of the loop that they connect on. `limit` comes on top.
        case virtual(count: Int, limit: Int)
    }

    init(_ network: TestNetwork, clients count: Int, limit: CInt) {
        guard network == .system else {
            way = .virtual(count: count, limit: Int(limit))
            return
        }
        var all = rlimit()
        unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &all)
        all.rlim_cur = all.rlim_max
        unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &all)
        var places: [CInt] = []
        while (places.last ?? 0) < limit { places.append(dup(STDIN_FILENO)) }
        sockets = (0..<count).map { _ in PlainSocket.unconnected() }
        for place in places.dropFirst() { close(place) }
        way = .system(spare: places[0])
        all.rlim_cur = rlim_t(limit)
        unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &all)
    }

    func connect(to port: Int, on loop: EventLoop) {
        switch way {
        case .system:
            for socket in sockets { socket.connect(to: port) }
            clients = sockets.map { Peer($0) }
        case .virtual(let count, let limit):
            clients = (0..<count).map { _ in Peer(.virtual, port: port, on: loop) }
            loop.simulatedHost.maxDescriptors = count + limit - 3
        }
    }

    func leave() {
        clients = []
        sockets = []
    }

    func giveBackSpare(on loop: EventLoop) {
        switch way {
        case .system(let spare): close(spare)
        case .virtual: loop.simulatedHost.maxDescriptors += 1
        }
    }
}
