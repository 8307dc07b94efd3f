// expect: capture of 'source' with non-Sendable type 'CancellationSource' in a '@Sendable' closure
import UVFutures

func carry(_ source: CancellationSource, loop: EventLoop) {
    loop.execute { source.cancel() }
}
