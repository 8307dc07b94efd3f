/// A request or a hook that waits until the outermost handler of requests has returned.
enum PendingRequest {
    /// A request to cancel the cell. Owns a reference to the cell.
    case cancel(CellPointer, CancelOptions, ignoringConsumers: Bool)
    /// The hook at the end of a future.
    case hook(() -> Void)
}

// A handler may cancel a future whose handler cancels the next future, and so on. Such requests are kept in a
// list, so that they do not recurse.
extension Propagation {
    /// Asks `cell` to cancel. Takes over the caller's reference to `cell`.
    func requestCancellation(of cell: CellPointer) {
        requests.append(.cancel(cell, [], ignoringConsumers: false))
        workOffRequests()
    }

    /// Whether as many handlers of requests are nested on the stack as are allowed.
    var isAskingTooDeep: Bool { askingDepth >= CancelOptions.depthLimit }

    /// Calls `ask`, which calls handlers of requests to cancel. When the outermost such call returns, makes the
    /// requests that came too deep in the stack.
    func whileAsking<Answer>(_ ask: () -> Answer) -> Answer {
        askingDepth += 1
        let answer = ask()
        askingDepth -= 1
        if askingDepth == 0, !requests.isEmpty { workOffRequests() }
        return answer
    }

    /// Calls `body`, the hook at the end of a future. If too many handlers are nested on the stack, calls
    /// `body` when the outermost one has returned.
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
                    // `object` holds the cell. The cell may have been linked in the meantime.
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
