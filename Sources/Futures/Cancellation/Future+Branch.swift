extension Future {
    /// Returns a second future with the outcome of this future. You can cancel the second future without
    /// cancelling this future.
    ///
    /// The second future is a branch of this future. This future is asked to cancel only when all its
    /// branches, and all other code that waits for it, have been cancelled.
    ///
    /// ```swift
    /// let index = fetch("index")
    /// let (mine, theirs) = (index.branch(), index.branch())
    /// mine.cancel()    // The fetch goes on: theirs still waits.
    /// ```
    public func branch() -> Future<Value> {
        let child = Cell.plain(loop.core, state: .pending, of: Value.self)
        cell.register(child, when: [])
        return Future(child)
    }
}
