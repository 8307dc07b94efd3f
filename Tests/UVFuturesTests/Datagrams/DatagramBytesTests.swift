import FoundationEssentials
import FuturesTesting
import Testing
import UVFutures

struct DatagramBytesTests {
    @Test("bytes of each form leave as they are", arguments: TestNetwork.allCases)
    func forms(network: TestNetwork) throws {
        try withSockets(network) { (loop, server, client) throws in
            let text = "ä\0b"
            let bytes = Array(text.utf8)
            let peer = server.localAddress
            client.send(text, to: peer)
            client.send(bytes, to: peer)
            client.send(Data(bytes), to: peer)
            client.send((Data([0]) + bytes)[1...], to: peer)
            client.send(Data(bytes).bytes, to: peer)
            client.send(contentsOf: [Data(bytes)], to: peer)
            client.send(Data(bytes), to: [peer])
            for _ in 0..<7 { #expect(try loop.run(until: server.receive()).bytes == Data(bytes)) }
            client.send("", to: peer)
            client.send([UInt8](), to: peer)
            client.send(Data(), to: peer)
            for _ in 0..<3 { #expect(try loop.run(until: server.receive()).bytes.isEmpty) }
        }
    }

    @Test("a body may return a future of any type", arguments: TestNetwork.allCases)
    func futures(network: TestNetwork) throws {
        struct Trouble: Error {}
        try withSockets(network) { loop, server, client in
            var names: [String] = []
            let reading = server.forEachDatagram { bytes, _ -> Future<String> in
                let name = String(decoding: Data(copying: bytes), as: UTF8.self)
                return loop.sleep(for: .milliseconds(1)).map {
                    names.append(name)
                    if name == "c" { throw Trouble() }
                    return name
                }
            }
            for name in ["a", "b", "c"] { client.send(name, to: server.localAddress) }
            #expect(loop.failure(of: reading) is Trouble)
            #expect(names == ["a", "b", "c"])
        }
    }
}
