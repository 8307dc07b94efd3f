import FoundationEssentials
import Futures
import UVFutures

/// The descriptors of a process.
protocol Descriptors: AnyObject {
    /// The number of those that are open.
    var count: Int { get }
    /// Leaves so many free ones. `nil` ends that.
    func limit(_ count: Int?)
}

/// A mixed program that is being run on a loop.
final class MixedRun {
    private let addresses: AddressRun
    private let paths: SocketPathRun
    private let files: FileRun
    private let root: Directory
    private var outcomes: [String] = []

    /// Returns what can be seen after each step. `settle` is called after each step with the number of those before, and a
    /// closure for what can be seen.
    static func outcomes(
        of program: MixedProgram, in path: String, on loop: EventLoop, _ traits: FileTraits,
        _ descriptors: some Descriptors, settle: (Int, () -> [String]) throws -> Bool
    ) throws -> [[String]] {
        let before = descriptors.count
        let run = try MixedRun(path, loop, traits)
        var seen: [[String]] = []
        func settled() throws -> Bool {
            let isAsExpected = try settle(seen.count) { run.lines(descriptors.count - before) }
            seen.append(run.lines(descriptors.count - before))
            return isAsExpected
        }
        defer {
            descriptors.limit(nil)
            run.addresses.end()
            run.paths.end()
            _ = try? run.files.end()
        }
        for step in program.steps {
            if case .limit(let count) = step { descriptors.limit(count) }
            run.begin(step)
            guard try settled() else { return seen }
        }
        descriptors.limit(nil)
        run.outcomes += FileTree(run.root, loop, traits).lines
        run.addresses.end()
        run.paths.end()
        _ = try settled()
        return seen
    }

    private init(_ path: String, _ loop: EventLoop, _ traits: FileTraits) throws {
        root = try loop.run(until: Directory.open(path, on: loop))
        addresses = AddressRun(loop)
        paths = SocketPathRun(root, path, loop)
        files = FileRun(root, loop, traits)
    }

    private func lines(_ descriptors: Int) -> [String] {
        outcomes + addresses.lines + paths.lines + ["\(descriptors) descriptors"]
    }

    private func begin(_ step: MixedProgram.Step) {
        switch step {
        case .address(let number, let step): addresses.begin(number, step)
        case .path(let number, let step): paths.begin(number, step)
        case .file(let action): outcomes.append(files.outcome(of: action))
        case .limit: break
        }
    }
}
