extension Cell {
    /// Everything about a cell that depends on its types: a closure in two words.
    ///
    /// Calling a closure counts a reference to its context. This one has a context only where the optimizer does not
    /// know the types. The cell owns a reference to it then.
    @safe @usableFromInline
    struct Behavior {
        @usableFromInline typealias Function = (
            _ operation: Operation, _ cell: CellPointer, _ source: CellPointer
        ) -> Void

        @usableFromInline let code: UInt
        @usableFromInline let context: UInt

        /// A struct around the closure, since a bare closure would be wrapped in another one on its way.
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

        /// The closure, with a reference of its own.
        var body: Function { unsafe unsafeBitCast((code, context), to: Closure.self).body }

        /// Releases the context when the cell is gone.
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
