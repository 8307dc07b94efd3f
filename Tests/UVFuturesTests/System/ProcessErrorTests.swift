import CLibUV
import Foundation
import Glibc
import Testing
import UVFutures

struct ProcessErrorTests {
    @Test("what is no program is refused by its kind")
    func noPrograms() throws {
        try withLoop { loop throws in
            try withDirectory { directory throws in
                func refusal(_ program: String) -> String? {
                    complaint { _ = try ChildProcess.start(.init(program), on: loop) }
                }
                #expect(
                    refusal("/nowhere/true")
                        == "cannot start /nowhere/true: it cannot be executed: ENOENT, no such file or directory; see that "
                        + "it is there, and the interpreter that its first line names")
                #expect(
                    refusal(directory)
                        == "cannot start \(directory): it cannot be executed: EACCES, permission denied; see that it is a "
                        + "file, and that its user may execute it")
                let text = "\(directory)/text"
                #expect(FileManager.default.createFile(atPath: text, contents: Data("text".utf8)))
                unsafe chmod(text, 0o755)
                #expect(
                    refusal(text)
                        == "cannot start \(text): it cannot be executed: ENOEXEC, exec format error; give a program of this "
                        + "machine, or a script whose first line names its interpreter")
                do {
                    _ = try ChildProcess.start(.init(text), on: loop)
                } catch let error as ProcessError {
                    #expect(error.step == .execute && error.code.name == "ENOEXEC" && error.program == text)
                }
                var long = ChildProcess.Configuration("true")
                long.arguments = [String(repeating: "x", count: 3 << 20)]
                #expect(
                    complaint { _ = try ChildProcess.start(long, on: loop) }
                        == "cannot start true: it cannot be executed: E2BIG, argument list too long; give it fewer or shorter "
                        + "arguments and variables")
            }
        }
    }
}
