import CLibUV
import Foundation
import Futures
import FuturesTesting
import Glibc
import TestSupport
import Testing

@testable import UVFutures

struct FileArgumentsTests {
    @Test("arguments that make no sense are refused with a sentence")
    func arguments() throws {
        try withFile { loop, file, _ in
            func expect<Value>(_ future: Future<Value>, _ text: String) {
                #expect(loop.failure(of: future).map { "\($0)" } == text)
            }
            expect(file.read(atMost: 0, at: 0), "a read of 0 bytes is out of range; give 1 to 1073741824")
            expect(file.read(atMost: 1, at: -1), "a position of -1 in a file is negative; give zero or more")
            expect(file.write(Data(), at: -1), "a position of -1 in a file is negative; give zero or more")
            expect(file.truncate(to: -1), "a position of -1 in a file is negative; give zero or more")
            expect(file.readAll(limit: -1), "a limit of -1 bytes is negative; give zero or more")
            expect(
                file.setPermissions(to: 0o10000), "permissions of 0o10000 make no sense; give 0o000 to 0o7777"
            )
        }
    }
}
