/// What a derived future does with the outcome of its source: the user's closure and the way to call it.
@usableFromInline
protocol Step {
    associatedtype Output
    /// Called once, from the ready queue. Completes `target`, unless it waits for another future.
    func run(source: CellPointer, target: CellPointer)
    /// The name of the method that the user has called, if only that method makes such steps.
    static var verb: String? { get }
}

extension Step {
    @inlinable static var verb: String? { nil }
}

extension Cell {
    /// Creates a completed or promised cell, with nothing to run. A completed cell still needs its value.
    @inlinable
    static func plain<Value>(_ loop: LoopCore, state: Cell.State, of _: Value.Type) -> Cell {
        let behavior = Cell.Behavior { event, cell, source in
            switch event {
            case .dropValue: _ = cell.takePayload(as: Value.self)
            case .copyValue: cell.initializePayload(source.readPayload(as: Value.self))
            case .reportFailure: cell.reportFailure(in: Value.self)
            case .run, .dropStep, .name: break
            }
        }
        return Cell(loop, state: state, flags: .trivial(Value.self), behavior: behavior)
    }

    /// Creates a pending cell that keeps `step` until something runs it.
    @inlinable
    static func waiting<S: Step>(_ loop: LoopCore, step: S) -> Cell {
        let object = Cell(
            loop, state: .pending, flags: [.hasStep, .trivial(S.Output.self)], behavior: behavior(of: S.self))
        object.initializePayload(step)
        return object
    }

    @inlinable @inline(__always)
    static func behavior<S: Step>(of _: S.Type) -> Cell.Behavior {
        Cell.Behavior { event, cell, source in
            switch event {
            case .run: cell.takePayload(as: S.self).run(source: source, target: cell)
            case .dropStep: _ = cell.takePayload(as: S.self)
            case .dropValue: _ = cell.takePayload(as: S.Output.self)
            case .copyValue: cell.initializePayload(source.readPayload(as: S.Output.self))
            case .reportFailure: cell.reportFailure(in: S.Output.self)
            case .name: cell.isCalled(S.verb)
            }
        }
    }

    @inlinable @inline(__always)
    func initializePayload<Content>(_ content: Content) {
        withExtendedLifetime(self) { pointer.initializePayload(content) }
    }

    /// Returns a future that runs `step` on this cell's outcome, if it is one of `interest`, unless `token` is
    /// cancelled.
    @inlinable
    func derive<S: Step>(
        _ step: S, when interest: Cell.Interest, on context: LocalContext = .loop,
        token: CancellationToken = .none
    ) -> Future<S.Output> {
        let child = waiting(step)
        if let condition = token.condition {
            register(child, when: interest.on(context), until: condition)
        } else {
            register(child, when: interest.on(context))
        }
        return Future(child)
    }

    /// Runs `step` on this cell's outcome, unless `token` is cancelled. Nobody sees what becomes of it.
    @inlinable @discardableResult
    func observe<S: Step>(
        _ step: S, when interest: Cell.Interest, on context: LocalContext = .loop,
        token: CancellationToken = .none
    ) -> Cell where S.Output == Void {
        if let condition = token.condition {
            let child = waiting(EndingStep(step: step))
            registerObserver(child, when: interest.on(context), until: condition)
            return child
        }
        let child = waiting(step)
        registerObserver(child, when: interest.on(context))
        return child
    }

    /// Creates a pending cell of the same loop that keeps `step` until something runs it.
    @inlinable @inline(__always)
    func waiting<S: Step>(_ step: S) -> Cell {
        let child = Cell(
            besides: self, flags: [.hasStep, .trivial(S.Output.self)],
            behavior: Cell.behavior(of: S.self))
        child.initializePayload(step)
        return child
    }
}

/// The step of an observer with an end that matters to somebody.
@usableFromInline
struct EndingStep<S: Step>: Step where S.Output == Void {
    @usableFromInline let step: S

    @inlinable init(step: S) { self.step = step }

    @inlinable
    func run(source: CellPointer, target: CellPointer) {
        step.run(source: source, target: target)
        target.succeed(())
    }

    @inlinable static var verb: String? { S.verb }

    @usableFromInline typealias Output = Void
}

/// A step of a kind that several methods make, with the name of one of them.
struct Named<Name: Verb, S: Step>: Step {
    private let step: S

    init(_: Name.Type, _ step: S) { self.step = step }

    func run(source: CellPointer, target: CellPointer) { step.run(source: source, target: target) }

    static var verb: String? { Name.verb }

    typealias Output = S.Output
}

protocol Verb {
    static var verb: String { get }
}

extension Cell.Flags {
    @inlinable @inline(__always)
    static func trivial<Value>(_: Value.Type) -> Cell.Flags {
        _isPOD(Value.self) && CellPointer.fitsPayload(Value.self) ? .hasTrivialValue : []
    }
}
