extension ChildProcess {
    /// The way in which a process has ended.
    public enum Exit: Hashable, Sendable {
        /// The program has ended itself with this code. 0 means success.
        case code(Int32)
        /// A signal has ended the program. `coreDumped` says whether it has left an image of its memory.
        case signal(ProcessSignal, coreDumped: Bool)
        /// Other code in this process has waited for any child, and has taken the status. The system does not tell it a
        /// second time before Linux 6.15.
        case statusTakenByOther

        /// Reads a status as `waitpid` gives it.
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
        case .statusTakenByOther: "a status that other code has taken"
        }
    }
}
