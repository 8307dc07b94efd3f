// expect: capture of 'socket' with non-Sendable type 'UDPSocket' in a '@Sendable' closure
import Dispatch
import UVFutures

func carry(_ socket: UDPSocket) {
    DispatchQueue.global().async { socket.send("hello") }
}
