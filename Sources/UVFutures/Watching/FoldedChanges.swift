/// Changes that wait, one for each path, in the order of their first events.
///
/// A file that was made and removed while its change waited has not changed. A file that was written under another name and
/// then renamed over the old one has been modified. This is how programs save a file.
struct FoldedChanges {
    enum Kind: Equatable {
        case created, modified, attributes, removed
        case moved(from: RelativePath)
    }

    private var kinds: [RelativePath: (kind: Kind, number: UInt64)] = [:]
    private var order = Fifo<(path: RelativePath, number: UInt64)>()
    private var lastNumber: UInt64 = 0

    var count: Int { kinds.count }
    var isEmpty: Bool { kinds.isEmpty }

    mutating func takeFirst() -> (path: RelativePath, kind: Kind)? {
        while let (path, number) = order.takeFirst() {
            guard let entry = kinds[path], entry.number == number else { continue }
            kinds[path] = nil
            return (path, entry.kind)
        }
        return nil
    }

    mutating func add(_ kind: Kind, _ path: RelativePath) {
        let before = kinds[path]?.kind
        switch kind {
        case .created:
            if before == nil { set(.created, path) } else if before == .removed { set(.modified, path) }
        case .modified:
            if before == nil || before == .attributes || before == .removed { set(.modified, path) }
        case .attributes:
            if before == nil { set(.attributes, path) }
        case .removed: remove(path, before)
        case .moved(let source): set(.moved(from: source), path)
        }
    }

    private mutating func remove(_ path: RelativePath, _ before: Kind?) {
        switch before {
        case .created: kinds[path] = nil
        case .moved(let source):
            kinds[path] = nil
            wasRemoved(source)
        default: set(.removed, path)
        }
    }

    /// Notes that the file that `path` named before its present changes is gone.
    private mutating func wasRemoved(_ path: RelativePath) {
        switch kinds[path]?.kind {
        case nil: set(.removed, path)
        case .created: set(.modified, path)
        default: break
        }
    }

    /// Adds a rename. `replacing` says whether there was a file at `path`.
    mutating func move(_ source: RelativePath, to path: RelativePath, replacing: Bool, isDirectory: Bool) {
        let before = kinds.removeValue(forKey: source)?.kind
        defer { if isDirectory { rebase(below: source, to: path) } }
        let overwritten = kinds[path]?.kind
        switch before {
        case .created: add(replacing ? .modified : .created, path)
        case .moved(let first) where first == path: if replacing { add(.modified, path) }
        case .moved(let first): set(.moved(from: first), path)
        case .removed: break
        case nil, .modified, .attributes: set(.moved(from: source), path)
        }
        if case .moved(let lost) = overwritten, lost != source, kinds[path]?.kind != overwritten {
            wasRemoved(lost)
        }
    }

    /// Gives the changes below the directory `source` their new paths, or forgets them if the directory has gone.
    mutating func rebase(below source: RelativePath, to path: RelativePath?) {
        let start = source.bytes + [UInt8(ascii: "/")]
        let below = kinds.filter { $0.key.bytes.starts(with: start) }
        for (old, entry) in below.sorted(by: { $0.value.number < $1.value.number }) {
            kinds[old] = nil
            guard let path else { continue }
            let new = RelativePath(bytes: path.bytes + old.bytes[source.bytes.count...])
            kinds[new] = entry
            order.append((new, entry.number))
        }
    }

    private mutating func set(_ kind: Kind, _ path: RelativePath) {
        // A rename comes behind the changes of the file that was renamed.
        let comesLast = if case .moved = kind { true } else { false }
        if !comesLast, let number = kinds[path]?.number {
            kinds[path] = (kind, number)
            return
        }
        lastNumber += 1
        kinds[path] = (kind, lastNumber)
        order.append((path, lastNumber))
    }
}
