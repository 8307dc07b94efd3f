import Foundation
import Futures
import FuturesTesting
import Glibc
import TestSupport
import Testing

@testable import SystemIO
@testable import UVFutures

struct FileTests {
    @Test("positions are written and read, beyond the end too")
    func positions() throws {
        try withFile { loop, file, path in
            #expect(file.loop === loop.core && file.path == "a")
            try loop.run(until: file.write(Data("world".utf8), at: 6))
            try loop.run(until: file.write(Data("hello ".utf8), at: 0))
            #expect(try loop.run(until: file.read(atMost: 100, at: 0)).text == "hello world")
            #expect(try loop.run(until: file.read(atMost: 4, at: 6)).text == "worl")
            #expect(try loop.run(until: file.read(atMost: 4, at: 11)).isEmpty)
            try loop.run(until: file.append(Data("!".utf8)))
            try loop.run(until: file.truncate(to: 14))
            #expect(try loop.run(until: file.readAll()) == Data("hello world!\0\0".utf8))
            try loop.run(until: file.truncate(to: 5))
            try loop.run(until: file.sync())
            try loop.run(until: file.sync(dataOnly: true))
            try loop.run(until: file.setPermissions(to: 0o600))
            let information = try loop.run(until: file.information())
            #expect(information.size == 5 && information.permissions == 0o600 && information.linkCount == 1)
            #expect(contents(path) == "hello")
            try loop.run(until: file.write(Data(), at: 0))
            try loop.run(until: file.append(Data()))
        }
    }
}
