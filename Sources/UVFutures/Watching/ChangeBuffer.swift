internal import Futures

/// The changes of a watch that its user has not taken.
///
/// With a debounce, changes are folded until none has come for that time, or for ten times as long. Without, each change
/// is kept as it comes.
final class ChangeBuffer {
    private typealias Kind = FoldedChanges.Kind
    /// The number of times the debounce that a change is kept back at most.
    private static let patience = 10

    private let loop: LoopCore
    private let debounce: Duration
    private let limit: Int
    /// The changes of the current burst.
    private var burst = FoldedChanges()
    private var ready = FoldedChanges()
    /// The changes as they came, without a debounce.
    private var raw = Fifo<FileChange>()
    private var mustLookAgain = false
    private var timer: Future<Void>?
    private var burstBegan: LoopInstant
    private var lastChange: LoopInstant
    /// Whether something waits for a change. Then the debounce keeps the loop alive.
    var isAwaited = false {
        didSet {
            if isAwaited, !oldValue, timer?.cancel(.evenIfOthersWaiting) == true { startTimer(debounce) }
        }
    }
    /// Called when changes can be taken.
    var onReady: () -> Void = {}
    /// Called when changes were given up, before `onReady`.
    var onOverflow: () -> Void = {}
    private(set) var counts = FileWatchCounts()
    /// The last change that was added without a debounce, while it waits.
    private var newest: FileChange?

    init(_ debounce: Duration, limit: Int, on loop: LoopCore) {
        (self.loop, self.debounce, self.limit) = (loop, debounce, limit)
        burstBegan = loop.now
        lastChange = burstBegan
    }

    private var folds: Bool { debounce > .zero }

    private var count: Int { burst.count + ready.count + raw.count }

    func takeFirst() -> FileChange? {
        guard let change = removeFirst() else { return nil }
        note(\.told, 1)
        return change
    }

    private func removeFirst() -> FileChange? {
        if mustLookAgain {
            mustLookAgain = false
            return FileChange(path: "", kind: .lookAgain)
        }
        if let (path, kind) = ready.takeFirst() { return FileChange(path, kind) }
        if raw.count == 1 { newest = nil }
        return raw.takeFirst()
    }

    /// Counts for this watch, and for all of the loop.
    private func note(_ number: WritableKeyPath<FileWatchCounts, UInt64>, _ count: Int) {
        counts[keyPath: number] &+= UInt64(count)
        loop.watches.counts[keyPath: number] &+= UInt64(count)
    }

    /// Runs `body`, which adds so many changes, and counts those that do not wait afterwards.
    private func countingMerged(of added: Int, _ body: () -> Void) {
        let before = count + added
        body()
        note(\.merged, before - count)
    }

    // MARK: What happens

    func created(_ path: RelativePath) { add(.created, path) }
    func modified(_ path: RelativePath) { add(.modified, path) }
    func attributesChanged(_ path: RelativePath) { add(.attributes, path) }

    func removed(_ path: RelativePath, isDirectory: Bool) {
        if isDirectory, folds { countingMerged(of: 0) { burst.rebase(below: path, to: nil) } }
        add(.removed, path)
    }

    func moved(_ source: RelativePath, to path: RelativePath, replacing: Bool, isDirectory: Bool) {
        guard folds else { return add(.moved(from: source), path) }
        countingMerged(of: 1) {
            burst.move(source, to: path, replacing: replacing, isDirectory: isDirectory)
        }
        changed()
    }

    private func add(_ kind: Kind, _ path: RelativePath) {
        if folds {
            countingMerged(of: 1) { burst.add(kind, path) }
        } else {
            let change = FileChange(path, kind)
            // A write in many pieces is one change for a reader who has not looked yet.
            if kind == .modified, change == newest { return note(\.merged, 1) }
            newest = change
            raw.append(change)
        }
        changed()
    }

    /// Replaces what waits by the advice to look at everything again.
    func lookAgain() {
        (burst, ready, raw, newest) = (FoldedChanges(), FoldedChanges(), Fifo(), nil)
        mustLookAgain = true
        note(\.overflows, 1)
        onOverflow()
        onReady()
    }

    private func changed() {
        if count > limit { return lookAgain() }
        guard folds else { return onReady() }
        lastChange = loop.now
        guard timer == nil, !burst.isEmpty else { return }
        burstBegan = lastChange
        startTimer(debounce)
    }

    // MARK: The debounce

    private func startTimer(_ delay: Duration) {
        let timer = loop.sleep(for: delay, keepsLoopAlive: isAwaited)
        timer.ignoreFailure()
        self.timer = timer
        timer.whenSuccess { [weak self] in self?.timerFired() }
    }

    private func timerFired() {
        timer = nil
        let now = loop.now
        let quiet = debounce - lastChange.duration(to: now)
        let left = debounce * Self.patience - burstBegan.duration(to: now)
        guard quiet <= .zero || left <= .zero else { return startTimer(min(quiet, left)) }
        flush()
    }

    /// Makes everything ready that waits for the debounce.
    func flush() {
        countingMerged(of: 0) {
            while let (path, kind) = burst.takeFirst() { ready.add(kind, path) }
        }
        onReady()
    }

    func close() {
        timer?.cancel(.evenIfOthersWaiting)
        (burst, ready, raw, mustLookAgain, newest) = (FoldedChanges(), FoldedChanges(), Fifo(), false, nil)
        (onReady, onOverflow) = ({}, {})
    }
}

extension FileChange {
    fileprivate init(_ path: RelativePath, _ kind: FoldedChanges.Kind) {
        let kind: Kind =
            switch kind {
            case .created: .created
            case .modified: .modified
            case .attributes: .attributes
            case .removed: .removed
            case .moved(let source): .moved(from: source.description)
            }
        self.init(path: path.description, kind: kind)
    }
}
