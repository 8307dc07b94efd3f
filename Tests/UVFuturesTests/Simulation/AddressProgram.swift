/// What sockets are asked to do, one step after another. Each step has a number, by which later ones mean the socket that
/// it has made, or that socket's port. So steps can be left out.
struct AddressProgram {
    enum Port: Equatable {
        case any
        /// That of this end of the socket, which may be closed by now.
        case of(Int)
    }

    struct Place {
        var host: String
        var port = Port.any
    }

    enum Step {
        /// On `lo` alone, with `device`.
        case listen(Place, sharing: Bool, device: Bool)
        case connect(Place, from: Place?)
        case accept(Int)
        case bind(Place, sharing: Bool)
        case connectDatagrams(Place, from: Place?)
        case send(by: Int, to: Place?, from: Place?)
        case receive(Int)
        case close(Int)
        case abort(Int)
    }

    /// Whether all that follows from the step has happened before the next one begins.
    var steps: [(number: Int, step: Step, settles: Bool)] = []
}

extension AddressProgram: StepProgram {
    var description: String {
        steps.map { "  \($0.number): \($0.step)\($0.settles ? "" : ", and at once")" }.joined(separator: "\n")
    }
}

extension AddressProgram.Place: CustomStringConvertible {
    var description: String { "\(host) \(port)" }
}
