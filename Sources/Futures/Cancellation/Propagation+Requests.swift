/// Work to do when the first of the nested handlers of requests has returned.
enum PendingRequest {
    /// Owns a reference to the cell.
    case cancel(CellPointer, CancelOptions, ignoringConsumers: Bool)
    case hook(() -> Void)
}

// Requests of producers that wait for others, which wait for others, are a list of work, so that none of them recurses into
// the next.
extension Propagation {
    /// Asks `cell` to cancel, and releases the reference to it.
    func requestCancellation(of cell: CellPointer) {
        requests.append(.cancel(cell, [], ignoringConsumers: false))
        workOffRequests()
    }

    var isAskingTooDeep: Bool { askingDepth >= CancelOptions.depthLimit }

    /// Calls handlers of cancel requests. Requests that they make too deep down the stack are made when the first of
    /// them has returned.
    func whileAsking<Answer>(_ ask: () -> Answer) -> Answer {
        askingDepth += 1
        let answer = ask()
        askingDepth -= 1
        if askingDepth == 0, !requests.isEmpty { workOffRequests() }
        return answer
    }

    /// Calls `body` at the end of a future, which may end others: now, or, deep down the stack, in the way of a
    /// request.
    func callEndHook(_ body: @escaping () -> Void) {
        if isAskingTooDeep { requests.append(.hook(body)) } else { whileAsking(body) }
    }

    private func workOffRequests() {
        guard !isWorkingOffRequests else { return }
        isWorkingOffRequests = true
        asOneChange {
            var index = 0
            while index < requests.count {
                let next = requests[index]
                index += 1
                switch next {
                case .cancel(let cell, let options, let ignoringConsumers):
                    // What it stands for may have been linked meanwhile.
                    _ = cell.object.requestCancellation(options, ignoringConsumers: ignoringConsumers)
                    cell.release()
                case .hook(let body):
                    body()
                }
            }
            requests.removeAll(keepingCapacity: true)
        }
        isWorkingOffRequests = false
        finishChange()
    }
}
