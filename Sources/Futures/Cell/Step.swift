/// What a derived future does with the outcome of its source: the user's closure and the way to call it.
@usableFromInline
protocol Step {
    associatedtype Output
    /// Called once, from the ready queue. Completes `target`, unless it waits for another future.
    func run(source: Cell, target: Cell)
}

extension CellObject {
    /// A completed or promised cell: nothing to run. A completed one needs its value.
    @inlinable
    static func plain<Value>(_ loop: EventLoop, state: Cell.State, of _: Value.Type) -> CellObject {
        CellObject(loop, state: state, flags: .trivial(Value.self)) { event, cell, source in
            switch event {
            case .dropValue: _ = cell.takeSlot(as: Value.self)
            case .copyValue: cell.initializeSlot(source.readSlot(as: Value.self))
            case .run, .dropStep: break
            }
        }
    }

    /// A pending cell that keeps `step` until something runs it.
    @inlinable
    static func waiting<S: Step>(_ loop: EventLoop, step: S) -> CellObject {
        let object = CellObject(
            loop, state: .pending, flags: [.hasStep, .trivial(S.Output.self)], behavior: behavior(of: S.self))
        object.initializeSlot(step)
        return object
    }

    @inlinable @inline(__always)
    static func behavior<S: Step>(of _: S.Type) -> Cell.Behavior {
        { event, cell, source in
            switch event {
            case .run: cell.takeSlot(as: S.self).run(source: source, target: cell)
            case .dropStep: _ = cell.takeSlot(as: S.self)
            case .dropValue: _ = cell.takeSlot(as: S.Output.self)
            case .copyValue: cell.initializeSlot(source.readSlot(as: S.Output.self))
            }
        }
    }

    @inlinable @inline(__always)
    func initializeSlot<Content>(_ content: Content) {
        withExtendedLifetime(self) { cell.initializeSlot(content) }
    }

    /// A future that runs `step` on this cell's outcome, if it is one of `interest`.
    @inlinable
    func derive<S: Step>(_ step: S, when interest: Cell.Interest) -> Future<S.Output> {
        let child = CellObject(
            besides: self, flags: [.hasStep, .trivial(S.Output.self)],
            behavior: CellObject.behavior(of: S.self))
        child.initializeSlot(step)
        register(child, when: interest)
        return Future(child)
    }

    /// Runs `step` on this cell's outcome; nobody hears of what becomes of it.
    @inlinable @discardableResult
    func observe<S: Step>(_ step: S, when interest: Cell.Interest) -> CellObject where S.Output == Void {
        let child = CellObject(
            besides: self, flags: [.hasStep, .trivial(S.Output.self)],
            behavior: CellObject.behavior(of: S.self))
        child.initializeSlot(step)
        registerObserver(child, when: interest)
        return child
    }
}

extension Cell.Flags {
    @inlinable @inline(__always)
    static func trivial<Value>(_: Value.Type) -> Cell.Flags {
        _isPOD(Value.self) && Cell.fitsSlot(Value.self) ? .hasTrivialValue : []
    }
}
