extension Future {
    /// Another future with this outcome, to be cancelled by itself: this one is asked when the last of its
    /// branches, and whoever else waits for it, has been cancelled.
    public func branch() -> Future<Value> {
        let child = Cell.plain(loop.core, state: .pending, of: Value.self)
        cell.register(child, when: [])
        return Future(child)
    }
}
