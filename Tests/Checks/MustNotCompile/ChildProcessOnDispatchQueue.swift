// expect: capture of 'process' with non-Sendable type 'ChildProcess' in a '@Sendable' closure
import Dispatch
import UVFutures

func end(_ process: ChildProcess) {
    DispatchQueue.global().async { process.end() }
}
