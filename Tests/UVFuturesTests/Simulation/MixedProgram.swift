import TestSupport
import UVFutures

/// Steps of sockets, of paths and of files, on one loop and in one directory, each with the numbers of its kind.
struct MixedProgram: StepProgram {
    enum Step {
        case address(Int, AddressProgram.Step)
        case path(Int, SocketPathProgram.Step)
        case file(FileProgram.Action)
        /// Leaves only so many free descriptors. `nil` ends that.
        case limit(Int?)
    }

    var steps: [Step] = []

    /// The steps of a program of each kind, put between each other.
    static func random(seed: UInt64, prefix: Int, _ traits: FileTraits) -> MixedProgram {
        var random = SeededGenerator(seed: seed)
        func addresses() -> [Step] {
            AddressMaker.program(seed: random.next()).steps.map { .address($0.number, $0.step) }
        }
        func paths() -> [Step] {
            SocketPathMaker.program(seed: random.next(), prefix: prefix).steps.map {
                .path($0.number, $0.step)
            }
        }
        func files() -> [Step] {
            FileMaker.program(seed: random.next(), traits).steps.map { .file($0.action) }
        }
        var rests = [addresses(), paths(), files()].map { $0[...] }
        var program = MixedProgram()
        while rests.contains(where: { !$0.isEmpty }) {
            if random.below(8) == 0 {
                program.steps.append(.limit(random.below(3) == 0 ? nil : random.below(4)))
            }
            let some = rests.indices.filter { !rests[$0].isEmpty }
            program.steps.append(rests[some[random.below(some.count)]].removeFirst())
        }
        return program
    }

    var description: String {
        steps.map { "  \($0)" }.joined(separator: "\n").replacing("UVFuturesTests.", with: "")
            .replacing("UVFutures.", with: "").shortened
    }
}
