import Futures
import Testing
import UVFutures

struct NameLookupTests {
    @Test("the system knows localhost, with the port that was asked for", arguments: TestNetwork.allCases)
    func localhost(network: TestNetwork) throws {
        try withLoop(network) { loop in
            let addresses = try loop.run(until: SystemResolver.shared.resolve("localhost", port: 7, on: loop))
            #expect(addresses.contains(try SocketAddress(host: "127.0.0.1", port: 7)))
            #expect(Set(addresses).count == addresses.count)
            #expect(SystemResolver.shared.maxConcurrent == 2)
            #expect(SystemResolver.shared.timeout == .seconds(5))
        }
    }

    @Test("a name that does not exist fails with the name and the reason", arguments: TestNetwork.allCases)
    func unknown(network: TestNetwork) throws {
        try withLoop(network) { loop in
            let name = "there-is.none.invalid"
            let error = loop.failure(of: loop.addresses(of: name, port: 7)) as? ResolutionError
            #expect(error?.name == name)
            #expect(
                [.nameNotFound, .nameServerFailed, .noAddress, .timedOut].contains(error!.code), "\(error!)")
            let known = ResolutionError(name: name, code: .nameNotFound)
            #expect("\(known)" == "resolve EAI_NONAME there-is.none.invalid: unknown node or service")
        }
    }
}
