extension ChildProcess {
    /// The exit status of a process.
    public enum Exit: Hashable, Sendable {
        /// The program has exited with this code. 0 means success.
        case code(Int32)
        /// A signal has terminated the program. `coreDumped` says whether it has left a core dump.
        case signal(ProcessSignal, coreDumped: Bool)
        /// Other code in this process has waited for any child, and has collected the exit status. Before Linux 6.15,
        /// the system reports a status only once.
        case statusTakenByOther

        /// Reads a status in the format of `waitpid`.
        init(status: Int32?) {
            guard let status else {
                self = .statusTakenByOther
                return
            }
            let signal = status & 0x7f
            self =
                signal == 0
                ? .code(status >> 8 & 0xff)
                : .signal(ProcessSignal(rawValue: signal), coreDumped: status & 0x80 != 0)
        }

        /// Whether the code is 0.
        public var isSuccess: Bool { self == .code(0) }
    }
}

extension ChildProcess.Exit: CustomStringConvertible {
    /// The exit in a few words, such as `code 1`, or `signal 11, with a core dump`.
    public var description: String {
        switch self {
        case .code(let code): "code \(code)"
        case .signal(let signal, let coreDumped):
            "signal \(signal.rawValue)\(coreDumped ? ", with a core dump" : "")"
        case .statusTakenByOther: "an unknown status, which other code has collected"
        }
    }
}
