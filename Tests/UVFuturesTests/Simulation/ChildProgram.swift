import TestSupport

/// What a parent does with one child, and what that does.
struct ChildProgram {
    /// What the child does, one after another.
    enum Act {
        case say(Int)
        case complain(Int)
        case echoLine
        case takeAll
        case ignore(Int32)
        case closeOutput
    }

    enum Step {
        case write(String)
        case closeInput
        case signal(Int32)
        case end(isAtOnce: Bool)
    }

    var acts: [Act] = []
    /// The code with which the child ends. `nil` if it waits for a signal.
    var code: Int32?
    var steps: [Step] = []

    static func random(seed: UInt64) -> ChildProgram {
        var random = SeededGenerator(seed: seed)
        var program = ChildProgram()
        for _ in 0..<random.below(5) { program.acts.append(.random(&random)) }
        program.code = random.below(3) == 0 ? nil : [0, 1, 7, 127, 255][random.below(5)]
        for _ in 0..<random.below(6) { program.steps.append(.random(&random)) }
        return program
    }
}

extension ChildProgram.Act {
    fileprivate static func random(_ random: inout SeededGenerator) -> Self {
        switch random.below(12) {
        case 0..<3: .say(1 + random.below(random.below(3) == 0 ? 30_000 : 10))
        case 3: .complain(1 + random.below(100))
        case 4..<7: .echoLine
        case 7: .takeAll
        case 8: .closeOutput
        // Of what cannot be ignored a shell complains.
        default: .ignore([1, 2, 10, 12, 13, 15, 17, 18, 20, 21, 23, 28, 40][random.below(13)])
        }
    }
}

extension ChildProgram.Step {
    fileprivate static func random(_ random: inout SeededGenerator) -> Self {
        switch random.below(12) {
        case 0..<3: .write(["a\n", "\n", "two\nlines\n", "no line"][random.below(4)])
        case 3: .closeInput
        case 4: .end(isAtOnce: random.below(2) == 0)
        default:
            .signal(
                random.below(4) == 0 ? [18, 19, 20, 9, 15][random.below(5)] : Int32(random.below(68)) - 1)
        }
    }
}

extension ChildProgram: Shrinkable {
    var partCount: Int { acts.count + steps.count }

    func without(_ part: Int) -> ChildProgram? {
        var shorter = self
        if part < acts.count {
            shorter.acts.remove(at: part)
        } else {
            shorter.steps.remove(at: part - acts.count)
        }
        return shorter
    }

    var description: String {
        "the child: \(acts), and \(code.map { "code \($0)" } ?? "it waits")\nits parent: \(steps)"
    }
}
