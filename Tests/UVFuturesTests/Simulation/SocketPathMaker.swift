import Glibc
import TestSupport

/// Makes a random program of sockets at paths.
struct SocketPathMaker {
    typealias Program = SocketPathProgram
    private typealias Step = Program.Step

    private var random: SeededGenerator
    /// The number of bytes of the directory in which the program runs, and of a slash.
    private let prefix: Int
    private var program = Program()
    private var listeners: [Int] = []
    private var sockets: [Int] = []
    /// All that can be closed.
    private var all: [Int] = []

    static func program(seed: UInt64, prefix: Int) -> Program {
        var maker = SocketPathMaker(random: SeededGenerator(seed: seed), prefix: prefix)
        for _ in 0..<(3 + maker.random.below(14)) { maker.addStep() }
        return maker.program
    }

    private init(random: SeededGenerator, prefix: Int) { (self.random, self.prefix) = (random, prefix) }

    private mutating func addStep() {
        switch random.below(100) {
        case 0..<16: keep(add(.listen(path(), permissions: permissions()))) { $0.listeners.append($1) }
        case 16..<28: keep(add(.connect(path()))) { _, _ in }
        case 28..<36: if let one = one(of: listeners) { keep(add(.accept(one))) { _, _ in } }
        case 36..<45: keep(add(.bind(path(), permissions: permissions()))) { $0.sockets.append($1) }
        case 45..<53:
            let local = random.below(2) == 0 ? path() : nil
            keep(add(.connectDatagrams(path(), from: local))) { $0.sockets.append($1) }
        case 53..<61:
            guard let one = one(of: sockets) else { return }
            _ = add(.send(by: one, to: random.below(2) == 0 ? nil : path()))
        case 61..<65: if let one = one(of: sockets) { _ = add(.receive(one)) }
        case 65..<74: if let one = one(of: all) { _ = add(.close(one)) }
        default: addFileStep()
        }
    }

    private mutating func addFileStep() {
        let step: Step =
            switch random.below(13) {
            case 0: .write(path())
            case 1: .contents(path())
            case 2: .makeDirectory(path())
            case 3, 4: .makeSymbolicLink(path(), to: path())
            case 5, 6: .link(path(), as: path())
            case 7, 8, 9: .rename(path(), to: path())
            case 10: .setPermissions(path(), permissions() ?? 0o755)
            case 11: .remove(path())
            default: .entries(".")
            }
        _ = add(step)
    }

    private mutating func add(_ step: Step) -> Int {
        let number = program.steps.count + 1
        program.steps.append((number, step, random.below(4) > 0))
        return number
    }

    private mutating func keep(_ number: Int, _ body: (inout Self, Int) -> Void) {
        all.append(number)
        body(&self, number)
    }

    private mutating func one(of numbers: [Int]) -> Int? {
        numbers.isEmpty ? nil : numbers[random.below(numbers.count)]
    }

    private mutating func path() -> String {
        let name = ["a", "a", "b", "b", "c"][random.below(5)]
        return switch random.below(24) {
        case 0: "@a"
        case 1: name + ["/", "/.", "/..", "//"][random.below(4)]
        case 2: [".", "..", "", "c/../a", "./a"][random.below(5)]
        // Of as many bytes as a socket can have, and of one more.
        case 3: String(repeating: "n", count: 107 - prefix + random.below(2))
        case 4, 5: "c/" + name
        default: name
        }
    }

    /// Nobody but root connects to what nobody may write.
    private mutating func permissions() -> UInt32? {
        [nil, nil, 0o600, 0o666, 0o777, geteuid() == 0 ? 0o001 : 0o201][random.below(6)]
    }
}
