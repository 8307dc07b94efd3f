extension Cell {
    /// The part of a cell that depends on the types of its step and its value: a closure, stored as two
    /// words.
    ///
    /// Calling a closure retains and releases the context of the closure. A behavior has a context only where
    /// the optimizer does not know the types. In that case the cell owns a reference to the context.
    @safe @usableFromInline
    struct Behavior {
        @usableFromInline typealias Function = (Operation, _ cell: CellPointer, _ source: CellPointer) -> Void

        @usableFromInline let code: UInt
        @usableFromInline let context: UInt

        /// A struct that holds the closure. A cast of a bare closure would wrap the closure in another
        /// closure.
        @usableFromInline
        struct Closure {
            @usableFromInline let body: Function
            @inlinable init(body: @escaping Function) { self.body = body }
        }

        @inlinable @inline(__always)
        init(_ body: @escaping Function) {
            (code, context) = unsafe unsafeBitCast(Closure(body: body), to: (UInt, UInt).self)
            if context != 0 { retain() }
        }

        @inline(__always)
        func callAsFunction(_ operation: Operation, _ cell: CellPointer, _ source: CellPointer) {
            if context == 0 {
                unsafe unsafeBitCast((code, 0 as UInt), to: Closure.self).body(operation, cell, source)
            } else {
                body(operation, cell, source)
            }
        }

        /// The closure. The returned closure owns its own reference to the context.
        var body: Function { unsafe unsafeBitCast((code, context), to: Closure.self).body }

        /// Returns this behavior for a further cell, with a reference of its own to the context.
        @inline(__always)
        func copy() -> Behavior {
            if context != 0 { retain() }
            return self
        }

        /// Releases the context. The cell calls this method when it is freed.
        @inline(__always)
        func release() {
            if context != 0 { unsafe reference.release() }
        }

        @usableFromInline
        func retain() { unsafe _ = reference.retain() }

        private var reference: Unmanaged<AnyObject> {
            unsafe Unmanaged.fromOpaque(UnsafeRawPointer(bitPattern: context)!)
        }
    }
}
