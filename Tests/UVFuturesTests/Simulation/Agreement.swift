import Foundation
import TestSupport
import Testing

/// A program of which parts can be left out.
protocol Shrinkable: CustomStringConvertible {
    var partCount: Int { get }
    /// Returns the program without a part. `nil` if others need it.
    func without(_ part: Int) -> Self?
}

/// A program of steps, each of which can be left out.
protocol StepProgram: Shrinkable {
    associatedtype Part
    var steps: [Part] { get set }
}

extension StepProgram {
    var partCount: Int { steps.count }

    func without(_ part: Int) -> Self? {
        var shorter = self
        shorter.steps.remove(at: part)
        return shorter
    }
}

/// Holds two places against each other in which programs of one kind run.
///
/// The number of programs of all kinds is `SCENARIOS` in the environment; they take an hour together at most. A program that
/// differs is told with the shortest one that still does, and the next run begins with it: its seed is kept below `.build`.
struct Agreement<Program: Shrinkable> {
    private static var count: Int {
        let given = ProcessInfo.processInfo.environment["SCENARIOS"].flatMap { Int($0) }
        return given ?? (isSoaking ? 5_000_000 : 2_500)
    }

    /// The name of the kind, and how many of a thousand programs are of it.
    let kind: String
    let share: Int
    let program: (UInt64) -> Program
    /// Returns what differs. `nil` if nothing does.
    let difference: (Program, UInt64) throws -> String?

    /// Tries programs until one differs.
    func check() throws {
        if let failure = try failure() { Issue.record("\(failure)") }
    }

    /// Tries programs until one differs, and returns the difference.
    func failure() throws -> String? {
        let kept = Self.read(kind)
        let end = ContinuousClock.now + .seconds(3600) * share / 1000
        var tried = 0
        defer { if isSoaking { print("\(kind): \(tried) programs") } }
        for seed in kept + SeededGenerator.seeds(max(1, Self.count * share / 1000)) where .now < end {
            tried += 1
            let program = program(seed)
            guard let text = try lastingDifference(program, seed) else { continue }
            Self.write(kind, [seed] + kept.filter { $0 != seed })
            let (shortest, difference) = try shrunk(program, seed, text)
            return "\(kind), seed \(seed): they do not agree after\n\(shortest)\n\(difference)"
        }
        Self.write(kind, [])
        return nil
    }

    /// Returns what differs three times. Others use the machine, too, and its ports and its time: what differs by chance does
    /// not differ so often.
    private func lastingDifference(_ program: Program, _ seed: UInt64) throws -> String? {
        var text: String?
        for attempt in 0..<UInt64(3) {
            let former = text
            text = try difference(program, seed &+ attempt)
            guard text != nil else {
                if attempt > 0 {
                    print("\(kind), seed \(seed): this did not last\n\(program)\n\(former ?? "")")
                }
                return nil
            }
        }
        return text
    }

    /// Leaves out parts, as long as there is a difference, for a minute at most, or for `SHRINK` seconds: each program that
    /// does not differ is waited for.
    private func shrunk(_ program: Program, _ seed: UInt64, _ text: String) throws -> (Program, String) {
        var (shortest, text, count) = (program, text, Int.max)
        let seconds = ProcessInfo.processInfo.environment["SHRINK"].flatMap { Int($0) } ?? 60
        let end = ContinuousClock.now + .seconds(seconds)
        while shortest.partCount < count {
            count = shortest.partCount
            for part in (0..<count).reversed() where .now < end {
                if let shorter = shortest.without(part), let found = try lastingDifference(shorter, seed) {
                    (shortest, text) = (shorter, found)
                }
            }
        }
        return (shortest, text)
    }

    // MARK: What has failed

    private static func file(_ kind: String) -> URL {
        URL(filePath: ".build/failed-seeds").appending(path: kind)
    }

    private static func read(_ kind: String) -> [UInt64] {
        let text = try? String(contentsOf: file(kind), encoding: .utf8)
        return text?.split(separator: "\n").compactMap { UInt64($0) } ?? []
    }

    private static func write(_ kind: String, _ seeds: [UInt64]) {
        let file = file(kind)
        guard !seeds.isEmpty else {
            try? FileManager.default.removeItem(at: file)
            return
        }
        try? FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try? Data(seeds.map { "\($0)\n" }.joined().utf8).write(to: file)
    }
}
