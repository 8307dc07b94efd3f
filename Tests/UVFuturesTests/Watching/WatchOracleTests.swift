import CHeap
import Foundation
import Futures
import FuturesTesting
import Glibc
import TestSupport
import Testing

@testable import SystemIO
@testable import UVFutures

/// What a watch tells leads from what there was to what there is, or the watch ends with an error.
struct WatchOracleTests {
    enum Kind: String, CaseIterable, Codable {
        case file, directory, tree, follow

        /// What is watched, below the directory `p/a`.
        var path: String { self == .file || self == .follow ? "b/f" : "b" }
    }

    enum Subject: String, CaseIterable, Codable {
        case itself, parent, ancestor
    }

    enum Action: String, CaseIterable, Codable {
        case renamed, replaced, replacedAtOnce, exchanged, madeAnew, linkedElsewhere, mountedOver, unmounted

        var needsKernel: Bool { [.exchanged, .mountedOver, .unmounted].contains(self) }
    }

    enum Moment: String, CaseIterable, Codable {
        case before, during, after, later
    }

    /// One of the watches, and what its user knows by it.
    private final class Watched {
        let disk: TestDisk
        let kind: Kind
        let path: String
        var watch: FileWatch?
        var stream: FollowStream?
        var ending: (any Error)?
        var mirror: Mirror?
        var seen = ""
        var hasBegun = false

        init(_ disk: TestDisk, _ kind: Kind, _ path: String) {
            (self.disk, self.kind, self.path) = (disk, kind, path)
            let (loop, url) = (disk.loop, disk.url(path))
            if kind == .follow {
                File.follow(url, from: .beginning, on: loop).whenComplete { [weak self] result in
                    guard let self else { return }
                    hasBegun = true
                    do { stream = try result.get() } catch {
                        ending = error
                        return
                    }
                    stream!.forEachChunk { [weak self] in self?.seen += $0.text }.whenFailure { [weak self] in
                        self?.ending = $0
                    }
                }
                return
            }
            let starting =
                switch kind {
                case .file: FileWatch.watch(file: url, debounce: .zero, on: loop)
                case .directory: FileWatch.watch(directory: url, debounce: .zero, on: loop)
                default: FileWatch.watch(tree: url, debounce: .zero, on: loop)
                }
            starting.whenComplete { [weak self] result in
                guard let self else { return }
                hasBegun = true
                do { watch = try result.get() } catch {
                    ending = error
                    return
                }
                // A user looks first when the watch has begun.
                if kind == .file {
                    seen = look()
                } else {
                    mirror = Mirror(path, of: disk, isRecursive: kind == .tree)
                }
                watch!.onChange { [weak self] in self?.take($0) }
                watch!.closed.whenFailure { [weak self] in self?.ending = $0 }
            }
        }

        private func take(_ change: FileChange) {
            if kind == .file { seen = look() } else { mirror!.apply(change) }
        }

        private func look() -> String { disk.look(path) ?? "none" }

        /// Whether the user knows what there is.
        func agrees(with text: String) -> Bool {
            switch kind {
            case .file: seen == look()
            case .follow: disk.look(path) == nil || seen.hasSuffix(text)
            default: mirror!.difference.isEmpty && disk.look(path) != nil
            }
        }

        func close() throws {
            if let watch { _ = disk.loop.outcome(of: watch.close()) }
            if let stream { _ = disk.loop.outcome(of: stream.close()) }
        }
    }

    /// Makes what is watched, in `place`, with contents that are like no other.
    private func make(_ place: String, _ text: String, in disk: TestDisk) {
        disk.makeDirectory(place + "/a/b/c")
        disk.write(place + "/a/b/f", text + "\n")
        disk.write(place + "/a/b/c/x", text)
    }

    /// Lets `action` happen to `subject`. Returns `false` if that cannot be.
    private func perform(_ action: Action, _ subject: String, in disk: TestDisk) throws {
        // What is put in its place.
        let other = "q" + subject.dropFirst()
        switch action {
        case .renamed: disk.rename(subject, to: subject + ".old")
        case .replaced:
            disk.rename(subject, to: subject + ".old")
            disk.rename(other, to: subject)
        case .replacedAtOnce:
            // Only a file can be, and an empty directory.
            if disk.names(in: subject).isEmpty { disk.rename(other, to: subject) }
        case .exchanged: disk.exchange(subject, other)
        case .madeAnew:
            disk.remove(subject)
            if disk.names(in: other).isEmpty {
                disk.write(subject, "anew\n")
            } else {
                make("p", "anew", in: disk)
            }
        case .linkedElsewhere:
            disk.rename("p.new", to: subject)
        case .mountedOver:
            #expect(unsafe mount(disk.url(other), disk.url(subject), nil, UInt(MS_BIND), nil) == 0)
        case .unmounted:
            #expect(unsafe umount2(disk.url(subject), CInt(MNT_DETACH)) == 0)
        }
    }

    private func run(
        _ kind: Kind, _ subject: Subject, _ action: Action, _ moment: Moment, _ network: TestNetwork,
        _ seed: UInt64
    ) throws {
        var random = SeededGenerator(seed: seed)
        let row: Comment = "\(kind) \(subject) \(action) \(moment) \(network) \(seed)"
        try TestDisk.with(network) { loop, disk in
            make("p", "old", in: disk)
            make("q", "new", in: disk)
            let path = "p/a/\(kind.path)"
            let parent = path.split(separator: "/").dropLast().joined(separator: "/")
            let place = subject == .itself ? path : subject == .parent ? parent : "p"
            if action == .linkedElsewhere {
                disk.rename(place, to: place + ".real")
                try disk.link(place, to: place + ".real")
                try disk.link("p.new", to: "q" + place.dropFirst())
            }
            if action == .unmounted { try perform(.mountedOver, place, in: disk) }
            if moment == .before { try perform(action, place, in: disk) }
            disk.simulated?.latency = .uniform(.zero ... .milliseconds(3))
            let watched = Watched(disk, kind, path)
            if moment == .during {
                if disk.simulated != nil { loop.advance(by: .microseconds(random.below(20_000))) }
                try perform(action, place, in: disk)
            }
            try loop.runUntil { watched.hasBegun }
            if moment == .later { try loop.run(for: .milliseconds(5)) }
            if moment == .after || moment == .later { try perform(action, place, in: disk) }
            // What it leads to now goes on.
            let text = "last \(random.next())"
            if disk.look(path) != nil {
                let file = kind == .file || kind == .follow ? path : path + "/f"
                disk.write(file, text, appending: true)
            }
            do {
                try loop.runUntil { watched.ending != nil || watched.agrees(with: text) }
            } catch {
                Issue.record("\(row): \(watched.seen), \(watched.mirror?.difference ?? [])")
            }
            if let ending = watched.ending, disk.loop === loop {
                #expect(ending is FileWatchError || ending is FileError, row)
            }
            try watched.close()
            if action == .mountedOver { unsafe umount2(disk.url(place), CInt(MNT_DETACH)) }
        }
    }

    @Test(
        "whatever happens to what is watched, or to what leads there, is told, or the end is", .asRoot,
        arguments: Kind.allCases)
    private func table(kind: Kind) async {
        await #expect(processExitsWith: .success) { [kind] in
            // Its own view of what is mounted, which ends with this process. Threads that start later have it, too.
            #expect(unshare_mounts() == 0, "the gate runs as root, and may mount")
            #expect(unsafe mount("none", "/", nil, UInt(MS_REC | MS_PRIVATE), nil) == 0)
            for subject in Subject.allCases {
                for action in Action.allCases {
                    for moment in Moment.allCases {
                        try WatchOracleTests().run(kind, subject, action, moment, .system, 0)
                    }
                }
            }
        }
    }

    @Test("the same holds in a simulated world, at any moment", arguments: Kind.allCases)
    private func simulatedTable(kind: Kind) throws {
        for subject in Subject.allCases {
            for action in Action.allCases where !action.needsKernel {
                for moment in Moment.allCases {
                    for seed in 0..<UInt64(moment == .during ? isSoaking ? 200 : 10 : 1) {
                        try run(kind, subject, action, moment, .virtual, seed)
                    }
                }
            }
        }
    }

    // MARK: Anything, in any order

    /// Does something with files and directories below `tree`, or between there and `out`.
    private func change(_ disk: TestDisk, _ random: inout SeededGenerator, _ number: Int) {
        let there = disk.scan("tree").keys.sorted()
        let directories = [""] + there.filter { disk.look("tree/\($0)") == "directory" }
        func new() -> String {
            let directory = directories.randomElement(using: &random)!
            let name = ["a", "b", "c", "d"].randomElement(using: &random)!
            return directory.isEmpty ? "tree/\(name)" : "tree/\(directory)/\(name)"
        }
        func old() -> String { there.randomElement(using: &random).map { "tree/\($0)" } ?? new() }
        func isDeep(_ path: String) -> Bool { path.count { $0 == "/" } > 5 }
        let (path, other) = (old(), new())
        switch random.below(disk.simulated == nil ? 10 : 9) {
        case 0, 1: if !isDeep(other), disk.look(other) == nil { disk.makeDirectory(other) }
        case 2: if disk.look(other) != "directory" { disk.write(other, "\(number)") }
        case 3:
            if disk.look(path)?.hasPrefix("file") == true { disk.write(path, "\(number)", appending: true) }
        case 4: disk.remove(path)
        case 5, 6: if !isDeep(other) { disk.rename(path, to: other) }
        case 7: disk.rename(path, to: "out/\(number)")
        case 8:
            if let name = disk.names(in: "out").randomElement(using: &random), !isDeep(other) {
                disk.rename("out/\(name)", to: other)
            }
        default: unsafe _ = chmod(disk.url(path), [0o700, 0o755].randomElement(using: &random)!)
        }
    }

    private func changeAtRandom(
        _ network: TestNetwork, debounce: Int, _ seed: UInt64, count: Int
    ) throws {
        var random = SeededGenerator(seed: seed)
        try TestDisk.with(network) { loop, disk in
            for name in ["tree", "out"] { disk.makeDirectory(name) }
            disk.simulated?.latency = .uniform(.zero ... .milliseconds(2))
            let watch = try loop.run(
                until: FileWatch.watch(
                    tree: disk.url("tree"), debounce: .milliseconds(debounce), on: loop))
            let mirror = Mirror("tree", of: disk)
            watch.onChange { mirror.apply($0) }
            var done = 0
            while done < count {
                for _ in 0..<random.below(12) + 1 {
                    change(disk, &random, done)
                    done += 1
                    guard random.below(3) == 0 else { continue }
                    if network == .virtual {
                        loop.advance(by: .microseconds(random.below(1000)))
                    } else {
                        try loop.run(until: loop.sleep(for: .zero))
                    }
                }
                do { try loop.runUntil { mirror.difference.isEmpty } } catch {
                    Issue.record("seed \(seed): \(mirror.difference) after \(mirror.told.suffix(40))")
                    throw error
                }
                if disk.names(in: "out").count > 20 {
                    for name in disk.names(in: "out") { disk.remove("out/\(name)") }
                }
                #expect(watch.isOpen)
            }
            try loop.run(until: watch.close())
        }
    }

    @Test("what is told of random changes of a tree leads to what there is", arguments: [0, 3])
    func randomChanges(debounce: Int) throws {
        let (seed, count) = isSoaking ? (SeededGenerator.seed, 100_000) : (7, 100)
        try changeAtRandom(.system, debounce: debounce, seed, count: count)
    }

    @Test("what is told of random changes of a simulated tree leads to what there is", arguments: [0, 3])
    func simulatedRandomChanges(debounce: Int) throws {
        for seed in 0..<UInt64(isSoaking ? 2000 : 20) {
            try changeAtRandom(.virtual, debounce: debounce, seed, count: 50)
        }
    }
}
