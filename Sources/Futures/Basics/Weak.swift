/// A weak reference, for a list that does not hold its members.
package struct Weak<Object: AnyObject> {
    package weak let object: Object?

    package init(_ object: Object) { self.object = object }
}

extension Weak: Sendable where Object: Sendable {}
