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

    /// Keeps `mode` for the descriptor, unless a mode is kept for it already. The first call in each process registers
    /// `restore` to be called at the exit of the process.
    mutating func keep(_ mode: Mode, of descriptor: CInt, restoringBy restore: @convention(c) () -> Void) {
        if process != getpid() {
            process = getpid()
            modes = [:]
            atexit(restore)
        }
        if modes[descriptor] == nil { modes[descriptor] = mode }
    }

    /// Removes the former mode of the descriptor, and returns it. Returns `nil` if none is kept.
    mutating func take(_ descriptor: CInt) -> Mode? { modes.removeValue(forKey: descriptor) }
}
