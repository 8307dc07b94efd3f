/// Gets the elements of a source for the body that asks for them, without a future for each element.
package protocol ElementAsker: AnyObject {
    /// Asks for the next element. The asker gives the element, the end or a failure to its source, during this
    /// call or later. Returns `false` if a future has to bring what is next.
    func ask() -> Bool
    /// Takes the request back, if there is one.
    func stopAsking()
}

/// The wait of a body for an element, as far as it does not depend on the type of the element.
@usableFromInline
@safe
package class ElementWait {
    private let asker: (any ElementAsker)?
    private let loop: Unmanaged<LoopCore>?
    // No user code runs while these change.
    @exclusivity(unchecked) private var isAsking = false
    @exclusivity(unchecked) private var hasArrived = false
    @exclusivity(unchecked) private var failure: (any Error)?
    @exclusivity(unchecked) private var body: Unmanaged<Body>?

    init(asking asker: (any ElementAsker)?, on loop: LoopCore?) {
        self.asker = asker
        unsafe self.loop = loop.map { unsafe .passUnretained($0) }
    }

    @inline(__always)
    private func withLoop<Result>(_ use: (LoopCore) -> Result) -> Result {
        unsafe loop!._withUnsafeGuaranteedRef(use)
    }

    /// Asks on behalf of the body that runs. Returns `nil` if a future has to bring the element.
    @inline(__always)
    final func ask() -> Await? {
        guard let asker else { return nil }
        return withLoop { loop in
            loop.checkThread()
            return loop.bodies.withCurrent { body in
                guard unsafe !isAsking, !body.isCancelled, asker.ask() else { return nil }
                unsafe isAsking = true
                if unsafe hasArrived { return .completed }
                unsafe self.body = .passUnretained(body)
                body.wait(for: self, on: loop)
                return .parked
            }
        }
    }

    final var parking: Parking { withLoop { $0.parking } }

    /// Notes that the body has taken what came. Another wait may begin.
    @usableFromInline
    final func hasAsked() {
        unsafe isAsking = false
        unsafe hasArrived = false
    }

    final func takeFailure() -> (any Error)? { unsafe failure.take() }

    final func stopAsking() { asker?.stopAsking() }

    /// Continues the body that asked. If `later` is `true`, or if a task of the loop runs now, the body continues
    /// after this call.
    @usableFromInline
    final func arrived(later: Bool) {
        unsafe hasArrived = true
        guard let body = unsafe body.take() else { return }
        withLoop { loop in
            unsafe body._withUnsafeGuaranteedRef { $0.goOn(on: loop, later: later || loop.turnState.isInJob) }
        }
    }

    /// Ends the sequence for the body that asked, because of `failure` if there is one.
    package final func end(because failure: (any Error)? = nil) {
        unsafe self.failure = failure
        arrived(later: true)
    }

    /// Ends the wait with `error`, because the body is cancelled or the loop shuts down. The body then continues.
    final func endWait(with error: any Error) {
        unsafe body = nil
        unsafe failure = error
        stopAsking()
    }
}
