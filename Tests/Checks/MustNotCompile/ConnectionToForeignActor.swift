// expect: sending 'connection' risks causing data races
import UVFutures

actor Foreign {
    func greet(_ connection: TCPConnection) { connection.write("hello") }
}

func carry(_ connection: TCPConnection) async {
    await Foreign().greet(connection)
}
