import TestSupport

extension AgreementMaker {
    /// Adds rounds that belong together, on a connection of their own.
    mutating func addScene() {
        switch random.below(11) {
        case 0:
            let number = open(.unix)
            act(number, .client, .flood(1_000_000))
            act(number, .client, .closeWithin(.milliseconds(5)), time: .seconds(1))
            act(number, .server, .read(.remains))
        case 1:
            let number = open(.unix, .cap)
            act(number, .client, .flood(1_000_000))
            act(number, .client, .flood(10))
            act(number, .server, .read(.remains))
        case 2:
            let number = open(.unix)
            act(number, .client, .flood(1_000_000))
            act(number, .client, .abort)
            act(number, .server, .read(.remains))
        case 3:
            let number = open(.unix)
            act(number, .server, .flood(400_000))
            act(number, .server, .flood(1000))
            act(number, .server, .cancelWrite)
            act(number, .client, .read(.remains))
            act(number, .server, .shutdownWrite)
        case 4:
            let number = open(.unix)
            act(number, .client, .flood(1_000_000))
            act(number, .client, .writable)
            act(number, .server, .read([.exactly(1_000_000), .chunks, .taskChunks][random.below(3)]))
        case 5:
            let number = open(.unix)
            act(number, .client, .flood(1_000_000))
            if random.below(2) == 0 { act(number, .client, .read(.some)) }
            act(number, .server, [.abort, .drop][random.below(2)])
        case 6:
            let number = open(.unix)
            act(number, .client, .flood(1_000_000))
            act(number, .client, random.below(2) == 0 ? .shutdownWrite : .close)
            act(number, .server, .read(.toEnd(limit: 1_000_000)))
        case 7:
            let number = open(.unix)
            act(number, .client, .flood(1_000_000))
            act(number, .client, .drop)
            act(number, .server, .read(.toEnd(limit: 1_000_000)))
        case 8: crowd()
        case 9: waitForRoom()
        default: endServer()
        }
    }

    /// Adds a connection that a limit of time ends, which takes a second or more.
    mutating func addTimedScene() {
        let time = Duration.seconds(3)
        let carrier: Program.Carrier = random.below(2) == 0 ? .tcp : .unix
        switch random.below(5) {
        case 0:
            let number = open(carrier, .idle)
            act(number, .server, .read(.some), time: time)
        case 1: _ = open(carrier, .handshake, time: time)
        case 2:
            let number = open(carrier, .read)
            act(number, .server, .write([1 + random.below(100)]))
            act(number, .client, .read(.exactly(1000)), time: time)
        case 3:
            let number = open(carrier, .framing)
            act(number, .client, .write([10]))
            act(number, .server, .write([10]))
            act(number, .client, .read(.exactly(11)), time: time)
        default:
            let number = open(.unix, .write)
            act(number, .client, .flood(1_000_000), time: time)
            act(number, .server, .read(.remains))
        }
    }

    /// More connections than there is room for.
    private mutating func crowd() {
        let place = Program.Place(peer: 0, carrier: random.below(2) == 0 ? .tcp : .unix, door: .narrow)
        for _ in 0..<3 {
            let number = newConnection()
            add([.connect(number, from: 1, to: place, waiting: .milliseconds(30))], time: .milliseconds(50))
            if random.below(2) == 0 { act(number, .client, .write([size()])) }
        }
        if random.below(2) == 0 { add([.accept(place)]) }
        add([.closeListener(place)])
    }

    /// A connection that is made as soon as another has been accepted.
    private mutating func waitForRoom() {
        let place = Program.Place(peer: 0, carrier: .unix, door: .narrow)
        for _ in 0..<3 { add([.connect(newConnection(), from: 1, to: place)]) }
        for _ in 0..<4 { add([.accept(place)], time: .milliseconds(200)) }
        add([.closeListener(place)])
    }

    /// A server that ends while its clients are in the middle of something.
    private mutating func endServer() {
        let door = Program.Door.servers[random.below(3)]
        let place = Program.Place(peer: 1, carrier: random.below(2) == 0 ? .tcp : .unix, door: door)
        let numbers = (0..<3).map { _ in newConnection() }
        for number in numbers { add([.connect(number, from: 0, to: place)]) }
        act(numbers[0], .client, .transfer(size(), .some))
        act(numbers[1], .client, .write([size()]))
        add([.drain(place)])
        act(numbers[0], .client, .read(.toEnd(limit: 1_000_000)))
        act(numbers[1], .client, .transfer(size(), .some))
        for number in numbers { act(number, .client, random.below(3) == 0 ? .abort : .close) }
    }

    // MARK: Rounds

    private mutating func open(
        _ carrier: Program.Carrier, _ limit: Program.Limit? = nil, time: Duration = .zero
    ) -> Int {
        let number = newConnection()
        let place = Program.Place(peer: 1, carrier: carrier, door: .quiet)
        add([.connect(number, from: 0, to: place, limit), .accept(place)], time: time)
        return number
    }

    private mutating func act(
        _ number: Int, _ side: Program.Side, _ action: Program.Action, time: Duration = .zero
    ) {
        add([.act(number, side, action)], time: time)
    }
}
