/// Makes the items of a snapshot from what is alive on a loop.
struct SnapshotBuilder {
    private typealias Item = LoopSnapshot.Item

    /// The most steps that are followed from a body or a promise: a chain may be longer than the stack.
    private static let longestChain = 50

    /// The bodies and futures from what is looked at to where the search is, and all that it has met.
    private struct Way {
        var open: Set<ObjectIdentifier> = []
        var met: Set<ObjectIdentifier> = []
    }

    private let loop: LoopCore
    private let now: UInt64
    /// The bodies and the promises that have an item, and so need no other.
    private var shown: Set<ObjectIdentifier> = []
    /// The futures of several members, and the scopes, that have been followed: each is shown in one place.
    private var followed: Set<ObjectIdentifier> = []
    /// The futures with which the scopes end.
    private var scopeEnds: Set<ObjectIdentifier> = []

    private init(_ loop: LoopCore) {
        self.loop = loop
        now = loop.clock
    }

    static func items(of loop: LoopCore) -> [LoopSnapshot.Item] {
        var builder = SnapshotBuilder(loop)
        let scopes = builder.scopes()
        let bodies = builder.bodies() + builder.tasks()
        return
            (scopes + bodies + loop.driver.openHandles.map { Item("handle", "handle: \($0)") }
            + loop.files.lines.values.sorted().map { Item("file", $0) }
            + loop.watches.lines.values.map { $0() }.sorted().map { Item("watch", $0) }
            + builder.timers() + builder.promises()).merged
    }

    // MARK: Scopes

    private mutating func scopes() -> [Item] {
        let all = loop.composites.all
        scopeEnds = Set(all.map { ObjectIdentifier($0.end) })
        let inner = Set(
            all.flatMap(\.parts).compactMap { part in
                if case .composite(let inner) = part { ObjectIdentifier(inner) } else { nil }
            })
        let outer = all.filter { !inner.contains(ObjectIdentifier($0)) }.map { item(of: $0) }
        // Scopes may be members of each other.
        return outer
            + all.compactMap { followed.contains(ObjectIdentifier($0)) ? nil : item(of: $0) }
    }

    private mutating func item(of composite: any Composite) -> Item {
        shown.insert(ObjectIdentifier(composite.end))
        guard followed.insert(ObjectIdentifier(composite)).inserted else {
            return Item("scope", "\(composite.title), which is shown elsewhere", place: composite.end.place)
        }
        let items = composite.parts.map { part in
            switch part {
            case .composite(let inner): return item(of: inner)
            case .object(let name): return Item("member", name)
            case .future(let cell):
                var seen = Way()
                return wait(of: cell.pointer, prefix: "", &seen)
            }
        }
        return Item("scope", composite.title, place: composite.end.place, items: items)
    }

    // MARK: Bodies and other tasks

    private mutating func bodies() -> [Item] {
        var items: [Item] = []
        for body in loop.bodies.all where !shown.contains(ObjectIdentifier(body)) {
            var seen = Way()
            items.append(item(of: body, prefix: "", &seen))
        }
        return items.sorted { ($0.text, $0.place ?? "") < ($1.text, $1.place ?? "") }
    }

    private mutating func item(of body: Body, prefix: String, _ seen: inout Way) -> Item {
        let isShown = shown.contains(ObjectIdentifier(body))
        guard seen.open.insert(ObjectIdentifier(body)).inserted else {
            return Item("circle", "\(prefix)\(body.name), which waits for itself in this way")
        }
        defer { seen.open.remove(ObjectIdentifier(body)) }
        // Others may wait for it, too, and chains of bodies would be shown again and again.
        if isShown { return Item("body", "\(prefix)\(body.name), which is shown elsewhere") }
        if seen.open.count > Self.longestChain { return Item("more", "\(prefix)what is left out here") }
        shown.insert(ObjectIdentifier(body))
        shown.insert(ObjectIdentifier(body.cell))
        guard let awaited = body.awaited else {
            let isCurrent = loop.bodies.withCurrent { $0 === body } == true
            let text =
                isCurrent ? "which runs now" : "which waits for no future of this loop, or is about to run,"
            return Item("body", "\(prefix)\(body.name), \(text)", place: body.placeOfWait)
        }
        let seconds = loop.traces?.waits[ObjectIdentifier(body)].map { Double(now &- min($0, now)) / 1e9 }
        return Item(
            "body", "\(prefix)\(body.name), which waits", place: body.placeOfWait, seconds: seconds,
            items: [item(of: awaited, &seen)])
    }

    /// Tasks that are no bodies, and wait for a future or an element of this loop.
    private mutating func tasks() -> [Item] {
        loop.awaitedByTasks.map { awaited in
            var seen = Way()
            return Item("task", "a task that is no body, which waits", items: [item(of: awaited, &seen)])
        }
    }

    // MARK: What something waits for

    private mutating func item(of awaited: Producer.Awaited, _ seen: inout Way) -> Item {
        switch awaited {
        case .cell(let cell): return wait(of: cell, prefix: "for ", &seen)
        case .object(let object):
            let subject = (object as? any PromiseOwner)?.subject ?? (object as? any ElementAsker)?.subject
            let name = subject ?? "an event of \(type(of: object))"
            return Item("event", "for \(name)")
        }
    }

    /// The item of a pending cell, with what that waits for.
    private mutating func wait(
        of cell: CellPointer, prefix: String, _ seen: inout Way
    ) -> Item {
        let object = cell.root.object
        let cell = object.pointer
        if let body = cell.producer as? Body { return item(of: body, prefix: prefix, &seen) }
        guard seen.open.insert(ObjectIdentifier(object)).inserted else {
            return Item("circle", "\(prefix)the same future, so it waits for itself")
        }
        defer { seen.open.remove(ObjectIdentifier(object)) }
        guard seen.met.insert(ObjectIdentifier(object)).inserted else {
            return Item("again", "\(prefix)a future that is shown above", place: object.place)
        }
        if seen.open.count > Self.longestChain { return Item("more", "\(prefix)what is left out here") }
        if cell.isCompleted { return Item("done", "\(prefix)a future that has completed") }
        shown.insert(ObjectIdentifier(object))
        // Of a linked cell the root would lead back.
        var (last, source) = (cell, cell.source)
        while let linked = source, linked.state == .linked {
            shown.insert(ObjectIdentifier(linked.object))
            (last, source) = (linked, linked.source)
        }
        if source == nil, last != cell {
            return Item("promise", prefix + name(of: last), place: last.object.place)
        }
        if let source, source != cell {
            let inner = wait(of: source, prefix: "for ", &seen)
            guard let verb = cell.verb ?? cell.producer?.nameInSnapshot ?? last.verb else {
                // A step of the library.
                return Item(
                    inner.kind, prefix + inner.text.dropFirst(4), place: inner.place, seconds: inner.seconds,
                    items: inner.items)
            }
            return Item("step", "\(prefix)\(verb)", place: object.place, items: [inner])
        }
        let awaited = cell.producer?.allAwaited ?? []
        if awaited.count > 1, !followed.insert(ObjectIdentifier(object)).inserted {
            return Item("again", "\(prefix)\(name(of: cell)), which is shown elsewhere", place: object.place)
        }
        let items = awaited.compactMap { one -> Item? in
            if case .object = one { nil } else { item(of: one, &seen) }
        }
        return Item("promise", prefix + name(of: cell), place: object.place, items: items)
    }

    private func name(of cell: CellPointer) -> String {
        if let name = loop.traces?.names[ObjectIdentifier(cell.object)] { return name }
        if let name = cell.producer?.nameInSnapshot { return name }
        if let deadline = loop.timers.deadline(of: cell) {
            return "a timer that is due in \(secondsLeft(until: deadline)) s"
        }
        if scopeEnds.contains(ObjectIdentifier(cell.object)) { return "the end of a scope" }
        if !cell.flags.contains(.isListed) { return cell.verb ?? "a future" }
        return cell.object.place == nil ? "a promise" : "a promise made"
    }

    /// The time until `deadline` in seconds, rounded to tenths.
    private func secondsLeft(until deadline: UInt64) -> Double {
        (Double(deadline - min(deadline, now)) / 1e8).rounded() / 10
    }

    // MARK: Timers and promises

    /// The timers that nothing above waits for, the next ten of them.
    private mutating func timers() -> [Item] {
        let cells = loop.timers.earliest(10) { [shown] in
            !shown.contains(ObjectIdentifier($0.object)) && !($0.producer is CoarseSlot)
        }
        return cells.map { cell, deadline in
            let name = cell.verb ?? cell.producer?.nameInSnapshot
            return Item(
                "timer",
                "timer\(name.map { " of \($0)" } ?? "") that is due in \(secondsLeft(until: deadline)) s",
                place: cell.object.place, items: steps(of: cell))
        }
    }

    /// The promises that nothing above waits for, with the steps that wait for them.
    private mutating func promises() -> [Item] {
        let others = loop.promises.all.filter { !shown.contains(ObjectIdentifier($0.object)) }
        let items = others.map { cell in
            Item("promise", name(of: cell), place: cell.object.place, items: steps(of: cell))
        }
        return items.merged.sorted { $0.count > $1.count }
    }

    /// The steps that wait for `cell`, with those that wait for them.
    private func steps(of cell: CellPointer, depth: Int = 0) -> [Item] {
        guard depth < 20, let first = cell.first else { return [] }
        return first.list.map { step in
            let name = step.verb ?? step.producer?.nameInSnapshot ?? "a callback"
            return Item(
                "then", "then \(name)", place: step.object.place, items: steps(of: step, depth: depth + 1))
        }
    }
}
