import CHeap
import Foundation
import FuturesTesting
import Glibc
import TestSupport
import Testing
import UVFutures

/// Holds the hosts file of a simulated host against that of the system, which the C library reads: random files, with names
/// that are looked up in each.
///
/// A process of its own has other files in `/etc`, and no name servers. So that they are seen by nobody else, it needs the
/// right to mount something.
///
/// Left out are the C library's own settings, which a simulation does not have (`nsswitch.conf`, `gai.conf`, `host.conf`), and
/// the order of addresses, which depends on the networks of the machine.
struct NameAgreementTests {
    @Test(
        "the hosts file of a simulated host names what it names in the system", .asRoot)
    func names() async {
        await #expect(processExitsWith: .success) {
            try withDirectory { loop, _, path in
                let hosts = URL(filePath: path + "/hosts")
                try Data().write(to: hosts)
                try Data("hosts: files\n".utf8).write(to: URL(filePath: path + "/nsswitch.conf"))
                // The threads that look names up begin later, and so in the same namespace.
                #expect(unshare_mounts() == 0, "the gate runs as root, and may mount")
                try #require(unsafe mount("none", "/", nil, UInt(MS_REC | MS_PRIVATE), nil) == 0)
                let flags = UInt(MS_BIND)
                for name in ["hosts", "nsswitch.conf"] {
                    try #require(
                        unsafe mount("\(path)/\(name)", "/etc/\(name)", nil, flags, nil) == 0)
                }
                try Agreement(kind: "names", share: 20, program: NameProgram.random) { program, seed in
                    try Data(program.text.utf8).write(to: hosts)
                    let real = program.names.map { name in
                        outcome { try loop.run(until: lookUp(name, on: loop)) }
                    }
                    let world = World(seed: seed)
                    defer { world.end() }
                    let host = try world.addHost("host", addresses: ["10.9.9.9", "fd09::9"])
                    host.hostsFile = program.text
                    let simulated = program.names.map { name in
                        outcome { try world.run(until: lookUp(name, on: host.loop)) }
                    }
                    guard let index = real.indices.first(where: { real[$0] != simulated[$0] }) else {
                        return nil
                    }
                    return
                        "\(program.names[index]) in a world: \(simulated[index])\nin the system: \(real[index])"
                }.check()
            }
        }
    }
}

private func lookUp(_ name: String, on loop: EventLoop) -> Future<String> {
    SystemResolver.shared.resolve(name, port: 7, on: loop).map { "\($0.map(\.description).sorted())" }
}

private func outcome(_ body: () throws -> String) -> String {
    do { return try body() } catch { return "\(error)" }
}
