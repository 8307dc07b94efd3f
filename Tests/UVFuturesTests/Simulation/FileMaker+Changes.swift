import TestSupport
import UVFutures

extension FileMaker {
    /// A program most of whose steps change something below a few names. With `byOneCall`, each is one call of the system: so
    /// a watch that looks for itself sees all of a step or nothing.
    static func changes(seed: UInt64, byOneCall: Bool, _ traits: FileTraits) -> Program {
        var maker = FileMaker(random: SeededGenerator(seed: seed), traits: traits)
        maker.empties = !byOneCall
        var actions: [Program.Action] = ["a", "a/b", "c"].map {
            .makeDirectory(Program.Place(directory: 0, path: $0), withParents: false, permissions: 0o755)
        }
        for (number, path) in [(1, "a"), (2, maker.any(["c", "a/b"]))] {
            actions.append(.openDirectory(number, Program.Place(directory: 0, path: path)))
        }
        for number in 0..<3 { actions += [maker.opening(number), maker.opening(number)] }
        let count = 5 + maker.random.below(25)
        for _ in 0..<count { actions.append(maker.change()) }
        return Program(steps: actions.map { Program.Step(action: $0) })
    }

    private mutating func shortPlace() -> Program.Place {
        let path = any(["a", "a", "b", "c", "d"]) + (chance(2) ? "" : "/" + any(["a", "b", "c"]))
        return Program.Place(directory: max(0, random.below(6) - 3), path: path)
    }

    private mutating func opening(_ number: Int) -> Program.Action {
        .open(
            number, shortPlace(), .readWrite, any([.never, .ifMissing, .ifMissing]),
            truncating: empties && chance(3), permissions: 0o644)
    }

    private mutating func change() -> Program.Action {
        let (number, place) = (random.below(3), shortPlace())
        switch random.below(32) {
        case 0, 1: return opening(number)
        case 2: return .open(number, place, .readWrite, .never, truncating: true, permissions: 0o644)
        case 3:
            return chance(2) ? .temporary(number, in: random.below(3), permissions: 0o644) : .close(number)
        case 4: return .openDirectory(1 + random.below(2), place)
        case 5...7: return .write(number, count: 1 + random.below(9), at: random.below(9))
        case 8: return .append(number, count: 10)
        case 9, 10: return .truncate(number, to: any([0, 5, 100]))
        case 11: return .setPermissionsOfFile(number, permissions())
        case 12, 13: return .setPermissions(place, permissions())
        case 14, 15: return .makeDirectory(place, withParents: false, permissions: 0o755)
        case 16...20: return .rename(place, to: shortPlace(), replacing: !chance(5))
        case 21: return .link(place, as: shortPlace())
        case 22: return .linkFile(number, as: place)
        case 23: return .makeSymbolicLink(place, to: any(["a", "b", "../a", "c/a", "a/b"]))
        case 24...27: return .remove(place)
        case 28...30: return .removeDirectory(place)
        default: return chance(4) ? .closeDirectory(1 + random.below(2)) : .removeDirectory(place)
        }
    }
}
