// expect: no exact matches in call to initializer
import UVFutures

func keep(_ connection: SocketConnection) {}

func listen(loop: EventLoop) {
    _ = TCPServer(on: loop, keep)
    _ = UnixServer(on: loop, keep)
}
