internal import Glibc
public import Testing

extension Trait where Self == ConditionTrait {
    /// Root alone may mount, make devices and become another user. Who runs the suite as somebody else is told what was left
    /// out; the gate runs as root.
    public static var asRoot: Self {
        unsafe .enabled(if: geteuid() == 0 || getenv("CI") != nil, "root alone may do this")
    }
}
