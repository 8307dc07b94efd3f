internal import CSystem
internal import Glibc

/// The modes that descriptors had before this process changed them. The exit of the process restores these
/// modes.
struct FormerModes<Mode> {
    private var modes: [CInt: Mode] = [:]
    /// The process in which the exit function was registered, or `nil` before that.
    private var process: pid_t?

    /// The former modes by descriptor. Empty in a child that a `fork` has made, because the parent restores
    /// these modes.
    var all: [CInt: Mode] { process == getpid() ? modes : [:] }

    /// Keeps `mode` for the descriptor, unless a mode is kept for it already. The first call in each process makes the
    /// exit of the process call `restore`.
    mutating func keep(_ mode: Mode, of descriptor: CInt, restoringBy restore: @convention(c) () -> Void) {
        if process != getpid() {
            process = getpid()
            modes = [:]
            atexit(restore)
        }
        if modes[descriptor] == nil { modes[descriptor] = mode }
    }

    /// Forgets the former mode of the descriptor, and returns it: `nil` if there is none.
    mutating func take(_ descriptor: CInt) -> Mode? { modes.removeValue(forKey: descriptor) }
}
