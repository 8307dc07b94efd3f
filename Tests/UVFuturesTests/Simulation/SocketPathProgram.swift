/// What is done with sockets of the UNIX domain and with the files at their paths, one step after another. Each step has a
/// number, by which later ones mean the socket that it has made. So steps can be left out.
struct SocketPathProgram {
    enum Step {
        case listen(String, permissions: UInt32?)
        case connect(String)
        case accept(Int)
        case bind(String, permissions: UInt32?)
        case connectDatagrams(String, from: String?)
        case send(by: Int, to: String?)
        case receive(Int)
        case close(Int)
        case write(String)
        case contents(String)
        case makeDirectory(String)
        case makeSymbolicLink(String, to: String)
        case link(String, as: String)
        case rename(String, to: String)
        case setPermissions(String, UInt32)
        case remove(String)
        case entries(String)

        var changesFiles: Bool {
            switch self {
            case .listen, .connect, .accept, .bind, .connectDatagrams, .send, .receive, .close: false
            default: true
            }
        }
    }

    /// Whether all that follows from the step has happened before the next one begins.
    var steps: [(number: Int, step: Step, settles: Bool)] = []
}

extension SocketPathProgram: StepProgram {
    var description: String {
        steps.map { "  \($0.number): \($0.step)\($0.settles ? "" : ", and at once")" }.joined(separator: "\n")
            .shortened
    }
}
