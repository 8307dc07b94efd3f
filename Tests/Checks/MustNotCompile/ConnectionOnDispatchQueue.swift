// expect: capture of 'connection' with non-Sendable type 'TCPConnection' in a '@Sendable' closure
import Dispatch
import UVFutures

func carry(_ connection: TCPConnection) {
    DispatchQueue.global().async { connection.write("hello") }
}
