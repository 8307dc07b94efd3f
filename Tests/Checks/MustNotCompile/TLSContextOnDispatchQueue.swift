// expect: capture of 'context' with non-Sendable type 'TLSContext' in a '@Sendable' closure
import Dispatch
import TLSStreams

func carry(_ context: TLSContext) {
    DispatchQueue.global().async { try? context.reload() }
}
