// expect: capture of 'supervisor' with non-Sendable type 'ProcessSupervisor' in a '@Sendable' closure
import Dispatch
import UVFutures

func end(_ supervisor: ProcessSupervisor) {
    DispatchQueue.global().async { supervisor.end() }
}
