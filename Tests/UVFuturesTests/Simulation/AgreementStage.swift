import CFuturesSystem
import CLibUV
import FoundationEssentials
import FuturesTesting
import Glibc
import Testing
import UVFutures

/// Where a program is run: on which loops, and in which network.
protocol AgreementStage {
    /// The loop of a peer.
    func loop(_ peer: Int) -> EventLoop
    /// The address of a peer, and a port of it on which nobody listens.
    func host(_ peer: Int) -> String
    func closedPort(_ peer: Int) -> Int
    /// The directory of the sockets.
    var directory: String { get }
    /// Lets everything happen that follows from the last round, which takes `time`. `isComplete` says whether all
    /// has happened that was to be expected. Returns `false` if that does not come to hold.
    func settle(for time: Duration, until isComplete: () -> Bool) throws -> Bool
}

/// A virtual loop. It decides what is to be expected, since it knows when nothing is left to do.
struct VirtualStage: AgreementStage {
    let directory: String
    let loop = EventLoop.virtual()

    init(_ directory: String) {
        self.directory = directory
        loop.simulatedDisk.makeDirectory(directory)
    }

    func loop(_ peer: Int) -> EventLoop { loop }
    func host(_ peer: Int) -> String { "127.0.0.1" }
    func closedPort(_ peer: Int) -> Int { 9 }

    func settle(for time: Duration, until isComplete: () -> Bool) throws -> Bool {
        loop.advance(by: .zero)
        loop.advance(by: time)
        return true
    }
}

/// A loop on libuv, and the network of the kernel. What happens there has happened when the same can be seen as
/// on the virtual loop. What comes too late is seen in the next round.
struct RealStage: AgreementStage {
    private static let patience: Duration = .seconds(20)
    /// The turns of the loop after which there is nothing to be seen that was not expected.
    private static let more = 2

    let directory: String
    let loop: EventLoop
    private let bound = PlainSocket.bound()

    init(_ directory: String, _ loop: EventLoop) {
        self.directory = directory
        self.loop = loop
    }

    func loop(_ peer: Int) -> EventLoop { loop }
    func host(_ peer: Int) -> String { "127.0.0.1" }
    func closedPort(_ peer: Int) -> Int { bound.port }

    func settle(for time: Duration, until isComplete: () -> Bool) throws -> Bool {
        let start = loop.now
        var turns = 0
        var calm = 0
        while calm < Self.more {
            try loop.run(until: loop.sleep(for: turns < 30 ? .zero : .milliseconds(1)))
            turns += 1
            calm = isComplete() ? calm + 1 : 0
            if calm == 0, start.duration(to: loop.now) > Self.patience { return false }
        }
        return true
    }
}

/// Hosts of a world, one for each peer, with latencies.
struct WorldStage: AgreementStage {
    let directory: String
    let world: World

    init(_ directory: String, seed: UInt64, peers: Int) throws {
        self.directory = directory
        world = World(seed: seed)
        for peer in 0..<peers { try world.addHost("peer-\(peer)").disk.makeDirectory(directory) }
    }

    func loop(_ peer: Int) -> EventLoop { world.hosts[peer].loop }
    func host(_ peer: Int) -> String { world.hosts[peer].addresses[0] }
    func closedPort(_ peer: Int) -> Int { 9 }

    func settle(for time: Duration, until isComplete: () -> Bool) throws -> Bool {
        for _ in 0..<1000 {
            try world.run(for: .milliseconds(20))
            if isComplete() { return true }
        }
        return false
    }
}
