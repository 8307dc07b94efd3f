// expect: passing closure as a 'sending' parameter risks causing data races
import UVFutures

func carry(_ connection: TCPConnection) {
    Task { _ = connection.write("hello") }
}
