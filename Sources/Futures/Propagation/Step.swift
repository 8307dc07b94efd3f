/// The work of a derived future when its source completes: the user's closure, and how to call it.
@usableFromInline
protocol Step {
    associatedtype Output = Void
    /// Runs the step with the completed `source`. Completes `target`, or lets another future complete
    /// `target`. Called once, in most cases from the ready queue.
    func run(source: CellPointer, target: CellPointer)
    /// The name of the method that the user called, or `nil` if several methods make such steps.
    static var verb: String? { get }
}

extension Step {
    @inlinable static var verb: String? { nil }
}

extension Cell {
    /// Creates a cell without a step. If `state` is `success`, the caller fills the payload with the value.
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

    /// Creates a pending cell on `loop` that holds `step` until the step runs.
    @inlinable
    static func waiting<S: Step>(_ loop: LoopCore, step: S) -> Cell {
        let object = Cell(
            loop, state: .pending, flags: [.hasStep, .trivial(S.Output.self)], behavior: behavior(of: S.self))
        object.initializePayload(step)
        return object
    }

    /// Creates the behavior of the cells whose steps are of type `S`.
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

    /// Returns a future that runs `step` when this cell completes with an outcome of `interest`. Any other
    /// outcome becomes the outcome of the future. If `token` is cancelled before, the future is cancelled.
    @inlinable
    func derive<S: Step>(
        _ step: S, when interest: Cell.Interest, on context: LocalContext = .loop,
        token: CancellationToken = .none
    ) -> Future<S.Output> {
        let child = waiting(step)
        if let condition = token.condition {
            register(child, when: interest.on(context), until: condition, asObserver: false)
        } else {
            register(child, when: interest.on(context))
        }
        return Future(child)
    }

    /// Runs `step` when this cell completes with an outcome of `interest`, unless `token` is cancelled
    /// before. If `interest` contains `cancellation`, a cancelled token runs `step`, too. Returns the
    /// observer, whose own outcome nothing needs.
    @inlinable @discardableResult
    func observe<S: Step>(
        _ step: S, when interest: Cell.Interest, on context: LocalContext = .loop,
        token: CancellationToken = .none
    ) -> Cell where S.Output == Void {
        if let condition = token.condition {
            let child = waiting(EndingStep(step: step))
            register(child, when: interest.on(context), until: condition, asObserver: true)
            return child
        }
        let child = waiting(step)
        registerObserver(child, when: interest.on(context))
        return child
    }

    /// Creates a pending cell on the loop of this cell. It holds `step` until the step runs.
    @inlinable @inline(__always)
    func waiting<S: Step>(_ step: S) -> Cell {
        let child = Cell(
            besides: self, flags: [.hasStep, .trivial(S.Output.self)], behavior: Cell.behavior(of: S.self))
        child.initializePayload(step)
        return child
    }
}

/// The step of an observer that something waits for, such as the tie to a token. Completes the observer after
/// the step.
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
}

/// A step of a type that several methods make, with the name of the method that made this one.
struct Named<Name: Verb, S: Step>: Step {
    private let step: S

    init(_: Name.Type, _ step: S) { self.step = step }

    func run(source: CellPointer, target: CellPointer) { step.run(source: source, target: target) }

    static var verb: String? { Name.verb }

    typealias Output = S.Output
}

/// A type that stands for the name of a method.
protocol Verb {
    static var verb: String { get }
}

extension Cell.Flags {
    /// Returns `hasTrivialValue` if a value of the type lies in the payload itself and needs no release.
    @inlinable @inline(__always)
    static func trivial<Value>(_: Value.Type) -> Cell.Flags {
        _isPOD(Value.self) && CellPointer.fitsPayload(Value.self) ? .hasTrivialValue : []
    }
}
