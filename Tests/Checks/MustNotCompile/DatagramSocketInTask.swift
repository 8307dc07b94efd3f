// expect: passing closure as a 'sending' parameter risks causing data races
import UVFutures

func carry(_ socket: UDPSocket) {
    Task { _ = socket.send("hello") }
}
