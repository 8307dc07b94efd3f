/// The source of the elements of one iteration. The copies of an iterator share it, and the release of the
/// last copy stops it.
@usableFromInline
package final class ElementSource<Element>: ElementWait {
    private let makeNext: () -> Future<Element?>
    private let onStop: () -> Void
    private var hasStopped = false
    @exclusivity(unchecked) @usableFromInline var element: Element?

    /// Creates a source whose elements come from `asker` for a task that waits, and from `next` for all other
    /// code.
    init(
        asking asker: (any ElementAsker)? = nil, on loop: LoopCore? = nil,
        next: @escaping () -> Future<Element?>, onStop: @escaping () -> Void
    ) {
        makeNext = next
        self.onStop = onStop
        super.init(asking: asker, on: loop)
    }

    deinit {
        stop()
        stopAsking()
    }

    @usableFromInline
    func stop() {
        guard !hasStopped else { return }
        hasStopped = true
        onStop()
    }

    func next() -> Future<Element?> { given(makeNext()) }

    // MARK: The next element, for a task

    /// Begins to get the next element. Sets `pending` if a future brings it. Returns `nil` if the source has
    /// stopped.
    @usableFromInline @inline(never)
    func begin(_ pending: inout Cell?) -> Await? {
        if hasStopped { return nil }
        if let wait = ask() { return wait }
        let cell = next().cell
        pending = cell
        return cell.beginAwait()
    }

    @usableFromInline
    func parking(_ pending: Cell?) -> Parking { pending?.parking ?? parking }

    /// Returns the element that `begin` was to get, or `nil` at the end, when the wait is over.
    @inlinable @inline(__always)
    func take(_ pending: inout Cell?) throws -> Element? {
        // An element that is here while a future is pending was asked for by another task.
        guard pending == nil, let element = unsafe element.take() else { return try takeRest(&pending) }
        hasAsked()
        return element
    }

    @inlinable
    func takeRest(_ pending: inout Cell?) throws -> Element? {
        guard let cell = pending.take() else { return try takeOutcome()?.readValue(as: Element.self) }
        do { try cell.endAwait() } catch { throw stopped(by: error) }
        let element = cell.readValue(as: Element?.self)
        if element == nil { stop() }
        return element
    }

    /// Waits for `cell` by the means of the task, which is no body's task. Then `take` returns the element.
    @usableFromInline
    func wait(for cell: Cell) async throws {
        do { try await cell.wait() } catch { throw stopped(by: error) }
    }

    /// Returns the completed future that has brought the element, or notes the end. Throws the failure that ended the
    /// wait.
    @usableFromInline
    func takeOutcome() throws -> Cell? {
        hasAsked()
        if let failure = takeFailure() { throw stopped(by: failure) }
        if let outcome = takeCompleted() { return outcome }
        stop()
        return nil
    }

    /// Stops the source because of `error`, and returns `error`. Cancellation stops nothing.
    @usableFromInline
    func stopped(by error: any Error) -> any Error {
        if !error.isCancellation { stop() }
        return error
    }

    // MARK: The asker's side

    /// Passes `element` to the body that asked. The body continues before this call returns, unless a task of
    /// the loop runs now.
    @inlinable
    package func deliver(_ element: Element) {
        unsafe self.element = element
        arrived(later: false)
    }
}
