// expect: capture of 'token' with non-Sendable type 'CancellationToken' in a '@Sendable' closure
import Foundation
import UVFutures

func carry(_ token: CancellationToken) {
    Thread.detachNewThread { _ = token.isCancelled }
}
