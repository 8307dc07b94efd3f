internal import Futures

/// The changes of a watch that its user has not taken yet.
///
/// With a debounce, changes are folded until none arrives for that time, but at most for ten times that long. Without
/// one, each change is kept as it arrives.
final class ChangeBuffer {
    private typealias Change = FoldedChanges.Change
    /// A change is held back for at most this many debounce periods.
    private static let patience = 10

    private let loop: LoopCore
    private let debounce: Duration
    private let limit: Int
    /// The changes of the current burst, and those of the bursts before.
    private var burst = FoldedChanges()
    private var ready = FoldedChanges()
    /// The changes in the order of delivery. Without a debounce, as they arrived.
    private var waiting = Fifo<FileChange>()
    private var mustLookAgain = false
    private var timer: Future<Void>?
    private var burstBegan: LoopInstant
    private var lastChange: LoopInstant
    /// Whether something waits for a change. If so, the timer of the debounce keeps the loop alive.
    var isAwaited = false {
        didSet {
            if isAwaited, !oldValue, timer?.cancel(.evenIfOthersWaiting) == true { startTimer(debounce) }
        }
    }
    /// Called when changes can be taken.
    var onReady: () -> Void = {}
    /// Called when changes were discarded, before `onReady`.
    var onOverflow: () -> Void = {}
    private(set) var counts = FileWatchCounts()
    /// The last change added without a debounce, while it waits.
    private var newest: FileChange?

    init(_ debounce: Duration, limit: Int, on loop: LoopCore) {
        (self.loop, self.debounce, self.limit) = (loop, debounce, limit)
        burstBegan = loop.now
        lastChange = burstBegan
    }

    private var folds: Bool { debounce > .zero }

    private var count: Int { burst.count + ready.count + waiting.count }

    func takeFirst() -> FileChange? {
        guard let change = removeFirst() else { return nil }
        note(\.told, 1)
        return change
    }

    private func removeFirst() -> FileChange? {
        if waiting.isEmpty, ready.added > 0 {
            if let told = unfold(&ready) {
                for change in told { waiting.append(FileChange(change)) }
            } else {
                giveUp()
            }
        }
        if mustLookAgain {
            mustLookAgain = false
            return FileChange(path: "", kind: .lookAgain)
        }
        if waiting.count == 1 { newest = nil }
        return waiting.takeFirst()
    }

    /// Folds `changes` into those to deliver, and empties them. Returns `nil` if they cannot be folded.
    private func unfold(_ changes: inout FoldedChanges) -> [Change]? {
        let folded = exchange(&changes, with: FoldedChanges())
        let told = folded.tell()
        if let told { note(\.merged, max(folded.added - told.count, 0)) }
        return told
    }

    /// Counts for this watch and for the loop.
    private func note(_ number: WritableKeyPath<FileWatchCounts, UInt64>, _ count: Int) {
        counts[keyPath: number] &+= UInt64(count)
        loop.watches.counts[keyPath: number] &+= UInt64(count)
    }

    // MARK: Changes

    func add(
        _ kind: FoldedChanges.Kind, _ path: RelativePath, isDirectory: Bool = false, replaces: Bool = false
    ) {
        let change = Change(kind: kind, path: path, isDirectory: isDirectory, replaces: replaces)
        if folds {
            burst.add(change)
        } else {
            let change = FileChange(change)
            // A write in many pieces is one change for a reader who has not looked yet.
            if change.kind == .modified, change == newest { return note(\.merged, 1) }
            newest = change
            waiting.append(change)
        }
        changed()
    }

    /// Replaces all waiting changes by one `lookAgain`.
    func lookAgain() {
        giveUp()
        onReady()
    }

    private func giveUp() {
        for folded in [burst, ready] { note(\.merged, max(folded.added - folded.count, 0)) }
        (burst, ready, waiting, newest) = (FoldedChanges(), FoldedChanges(), Fifo(), nil)
        mustLookAgain = true
        note(\.overflows, 1)
        onOverflow()
    }

    private func changed() {
        if count > limit { return lookAgain() }
        guard folds else { return onReady() }
        lastChange = loop.now
        guard timer == nil else { return }
        burstBegan = lastChange
        startTimer(debounce)
    }

    // MARK: The debounce

    private func startTimer(_ delay: Duration) {
        let timer = loop.sleep(for: delay, keepsLoopAlive: isAwaited).ignoreFailure()
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

    /// Makes all changes that wait for the debounce available.
    func flush() {
        guard let told = unfold(&burst) else { return lookAgain() }
        for change in told { ready.add(change) }
        onReady()
    }

    func close() {
        timer?.cancel(.evenIfOthersWaiting)
        (burst, ready, waiting) = (FoldedChanges(), FoldedChanges(), Fifo())
        (mustLookAgain, newest) = (false, nil)
        (onReady, onOverflow) = ({}, {})
    }
}

extension FileChange {
    fileprivate init(_ change: FoldedChanges.Change) {
        let kind: Kind =
            switch change.kind {
            case .created: .created
            case .modified: .modified
            case .attributes: .attributes
            case .removed: .removed
            case .moved(let source): .moved(from: source.description)
            }
        self.init(path: change.path.description, kind: kind)
    }
}
