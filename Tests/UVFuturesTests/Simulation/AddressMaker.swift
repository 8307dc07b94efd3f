import TestSupport

/// Makes a random program of addresses and ports.
struct AddressMaker {
    typealias Program = AddressProgram
    private typealias Step = Program.Step

    private static let hosts = [
        "127.0.0.1", "127.0.0.1", "127.0.0.1", "0.0.0.0", "0.0.0.0", "::", "::", "::1", "::1", "127.0.0.2",
        "127.0.0.2", "::ffff:127.0.0.1", "::ffff:127.0.0.2", "::ffff:0.0.0.0", "127.255.255.254",
    ]
    private static let foreignHosts = ["192.0.2.1", "2001:db8::1", "::ffff:192.0.2.1"]

    private var random: SeededGenerator
    private var program = Program()
    /// Whether sockets may share ports. Which of them then has what comes is not determined.
    private var isSharing = false
    private var listeners: [Int] = []
    private var connections: [Int] = []
    private var sockets: [Int] = []

    static func program(seed: UInt64) -> Program {
        var maker = AddressMaker(random: SeededGenerator(seed: seed))
        let isOfDatagrams = maker.random.below(2) == 0
        maker.isSharing = maker.random.below(6) == 0
        for _ in 0..<(3 + maker.random.below(10)) {
            if isOfDatagrams { maker.addDatagramStep() } else { maker.addStreamStep() }
        }
        return maker.program
    }

    private init(random: SeededGenerator) { self.random = random }

    private mutating func add(_ step: Step) -> Int {
        let number = program.steps.count + 1
        let settles =
            switch step {
            // The kernel has answered over the loopback interface before the call returns, and a world has not.
            case .listen, .accept, .bind, .connectDatagrams: random.below(4) > 0
            default: true
            }
        program.steps.append((number, step, settles))
        return number
    }

    // MARK: Streams

    private mutating func addStreamStep() {
        let all = listeners + connections
        switch random.below(isSharing ? 30 : 100) {
        case 0..<30:
            listeners.append(
                add(.listen(place(all, isLocal: true), sharing: shares(), device: random.below(4) == 0)))
        case 30..<60:
            guard !all.isEmpty else { return }
            let target = place(listeners.isEmpty ? all : random.below(4) == 0 ? all : listeners, isUsed: true)
            let source = random.below(3) == 0 ? place(all, isLocal: true) : nil
            connections.append(add(.connect(target, from: source)))
        case 60..<78: if let one = one(of: listeners) { connections.append(add(.accept(one))) }
        case 78..<92: if let one = one(of: all) { _ = add(.close(one)) }
        default: if let one = one(of: connections) { _ = add(.abort(one)) }
        }
    }

    // MARK: Datagrams

    private mutating func addDatagramStep() {
        switch random.below(isSharing ? 24 : 100) {
        case 0..<24: sockets.append(add(.bind(place(sockets, isLocal: true), sharing: shares())))
        case 24..<38:
            guard !sockets.isEmpty else { return }
            let source = random.below(2) == 0 ? place(sockets, isLocal: true) : nil
            sockets.append(add(.connectDatagrams(place(sockets, isUsed: true), from: source)))
        case 38..<66:
            guard let one = one(of: sockets) else { return }
            let target = random.below(4) == 0 ? nil : place(sockets, isUsed: true)
            let sources = ["127.0.0.1", "127.0.0.2", "::1"]
            let source = random.below(8) == 0 ? Program.Place(host: sources[random.below(3)]) : nil
            _ = add(.send(by: one, to: target, from: source))
        case 66..<90: if let one = one(of: sockets) { _ = add(.receive(one)) }
        default: if let one = one(of: sockets) { _ = add(.close(one)) }
        }
    }

    // MARK: Parts

    private mutating func shares() -> Bool { isSharing }

    private mutating func one(of numbers: [Int]) -> Int? {
        numbers.isEmpty ? nil : numbers[random.below(numbers.count)]
    }

    /// A place with the port of one of `numbers`, in most cases if not always.
    private mutating func place(_ numbers: [Int], isLocal: Bool = false, isUsed: Bool = false)
        -> Program.Place
    {
        let isForeign = isLocal && random.below(30) == 0
        let hosts = isForeign ? Self.foreignHosts : Self.hosts
        let port = isUsed || random.below(2) == 0 ? one(of: numbers) : nil
        return Program.Place(
            host: hosts[random.below(hosts.count)], port: port.map { .of($0) } ?? .any)
    }
}
