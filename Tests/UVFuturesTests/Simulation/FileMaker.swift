import TestSupport
import UVFutures

/// Makes programs by a seed.
struct FileMaker {
    typealias Program = FileProgram

    var random: SeededGenerator
    let traits: FileTraits
    /// Whether files that are opened may be emptied in the same step.
    var empties = true

    static func program(seed: UInt64, _ traits: FileTraits) -> Program {
        var maker = FileMaker(random: SeededGenerator(seed: seed), traits: traits)
        let count = 5 + maker.random.below(30)
        return Program(steps: (0..<count).map { _ in maker.step() })
    }

    mutating func chance(_ one: Int) -> Bool { random.below(one) == 0 }

    mutating func any<Element>(_ elements: [Element]) -> Element {
        elements[random.below(elements.count)]
    }

    private mutating func step() -> Program.Step {
        let action = action()
        guard chance(2) else { return Program.Step(action: action) }
        let subjects = subjects(of: action) + [.file(number()), .place(place())]
        return Program.Step(action: action, observed: subjects)
    }

    /// What a step may change, and the directories above.
    private func subjects(of action: Program.Action) -> [Program.Subject] {
        let places: [Program.Place] =
            switch action {
            case .open(_, let place, _, _, _, _), .setPermissions(let place, _), .replace(let place, _, _),
                .appendTo(let place, _), .makeDirectory(let place, _, _), .makeSymbolicLink(let place, _),
                .remove(let place), .removeDirectory(let place), .linkFile(_, let place):
                [place]
            case .rename(let place, let other, _), .link(let place, let other): [place, other]
            default: []
            }
        return places.flatMap { place in
            let above = place.path.split(separator: "/").dropLast().joined(separator: "/")
            return [place, Program.Place(directory: place.directory, path: above.isEmpty ? "." : above)]
        }
        .map { .place($0) }
    }

    private mutating func number() -> Int { random.below(3) }

    mutating func place() -> Program.Place {
        Program.Place(directory: max(0, random.below(5) - 2), path: path())
    }

    private mutating func path() -> String {
        if chance(25) { return oddPath() }
        var path = name()
        for _ in 0..<any([0, 0, 0, 1, 1, 2]) { path += any(["/", "/", "/", "/", "//", "/./"]) + name() }
        if chance(12) { path += any(["/", "/.", "/..", "//"]) }
        return path
    }

    private mutating func name() -> String {
        if chance(15) { return any([".", "..", "é", "e\u{301}", long(255)]) }
        return any(["a", "b", "c", "d"])
    }

    private func long(_ count: Int) -> String { String(repeating: "n", count: count) }

    private mutating func oddPath() -> String {
        any([
            "", "/", "/a", "a\0b", "\0", "..", "../a", ".", "./", long(256), long(4095), long(4096),
            "a/" + long(256), long(255) + "/a", long(256) + "/a",
            // Of 4,095 bytes and of 4,096.
            String(repeating: "./", count: 2047) + "a", String(repeating: "./", count: 2047) + "ab",
            String(repeating: "a/../", count: 818) + "./././a",
        ])
    }

    private mutating func target() -> String {
        if chance(12) { return any(["", "a\0b", "/", "/a", "..", ".", "./", long(256), long(4096)]) }
        return (chance(6) ? "../" : "") + path()
    }

    mutating func permissions() -> UInt32 {
        if chance(20) { return any([0o10000, .max, 0o7777]) & (traits.isRoot ? .max : ~0o6000) }
        let bits = any([0o666, 0o600, 0o777, 0o755, 0o7777, UInt32(random.below(0o10000))])
        return traits.isRoot ? bits : bits & 0o1777 | 0o700
    }

    private mutating func count() -> Int { any([0, 1, 2, 10, 511, 512, 513, 4096, 5000, 10000]) }

    private mutating func offset() -> Int {
        if chance(6) { return any([-1, .max, .max - 1, .max - 4096, 1 << 32, 1 << 36, 1 << 40]) }
        if traits.hasLargestSize, chance(12) { return any([1 << 44, (1 << 44) - 4096, (1 << 44) - 4100]) }
        return any([0, 0, 0, 1, 5, 511, 4095, 4096, 4097, 8192, 20000])
    }

    private mutating func action() -> Program.Action {
        switch random.below(34) {
        case 0...3:
            return .open(
                number(), place(), any([.readOnly, .writeOnly, .readWrite, .readWrite]),
                any([.never, .ifMissing, .ifMissing, .always]), truncating: chance(4),
                permissions: permissions())
        case 4: return .temporary(number(), in: random.below(3), permissions: permissions())
        case 5, 6: return .openDirectory(1 + random.below(2), place())
        case 7: return .read(number(), count: any([0, 1, 7, 512, 5000, 100_000]), at: offset())
        case 8: return .readAll(number(), limit: any([-1, 0, 10, 20000, 16_777_216]))
        case 9: return .write(number(), count: count(), at: offset())
        case 10: return .append(number(), count: count())
        case 11: return .truncate(number(), to: offset())
        case 12: return .sync(number(), dataOnly: chance(2))
        case 13: return .setPermissionsOfFile(number(), permissions())
        case 14:
            return any([.lock(number(), any([.shared, .exclusive])), .unlock(number()), .close(number())])
        case 15: return .information(.place(place()), followingLink: chance(2))
        case 16: return .information(.file(number()), followingLink: true)
        case 17: return .setPermissions(place(), permissions())
        case 18: return .contents(place(), limit: any([-1, 0, 10, 16_777_216]))
        case 19: return .replace(place(), count: count(), permissions: chance(2) ? permissions() : nil)
        case 20: return .appendTo(place(), count: count())
        case 21, 22: return .makeDirectory(place(), withParents: chance(3), permissions: permissions())
        case 23, 24: return .rename(place(), to: place(), replacing: !chance(4))
        case 25: return .link(place(), as: place())
        case 26: return .linkFile(number(), as: place())
        case 27: return .makeSymbolicLink(place(), to: target())
        case 28: return chance(2) ? .target(place()) : .makeSymbolicLink(place(), to: target())
        case 29: return .remove(place())
        case 30: return .removeDirectory(place())
        case 31: return chance(3) ? .removeTree(place(), maxDepth: any([128, 128, 0, -1])) : .remove(place())
        case 32: return .entries(place())
        default:
            return any([
                .walk(place(), maxDepth: any([128, 0, 1, -1]), maxEntries: any([1000, 1000, 2, 0, -1])),
                .syncDirectory(random.below(3)), .closeDirectory(1 + random.below(2)),
            ])
        }
    }
}
