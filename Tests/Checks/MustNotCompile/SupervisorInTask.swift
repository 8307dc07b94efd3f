// expect: passing closure as a 'sending' parameter risks causing data races
import UVFutures

func carry(_ supervisor: ProcessSupervisor) {
    Task { _ = supervisor.end() }
}
