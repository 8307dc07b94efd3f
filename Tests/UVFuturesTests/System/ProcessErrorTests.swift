import CFuturesSystem
import CLibUV
import Foundation
import Glibc
import Testing

@testable import SystemIO
@testable import UVFutures

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
                        == "cannot start /nowhere/true: it cannot be executed: ENOENT, no such file or directory; "
                        + "make sure that it exists, and the interpreter in its first line, too")
                #expect(
                    refusal(directory)
                        == "cannot start \(directory): it cannot be executed: EACCES, permission denied; "
                        + "make sure that it is a file, and that its user may execute it")
                let text = "\(directory)/text"
                try loop.makeProgram("text", at: text)
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

    @Test("each step has a sentence of its own, which says what to do")
    func steps() {
        func text(_ step: ProcessError.Step, _ error: CInt, _ subject: String = "") -> String {
            "\(ProcessError("a", step, SystemError.Code(rawValue: -error), subject))"
        }
        let rights = "EPERM, operation not permitted; run with more rights, or leave the setting out"
        #expect(
            text(.closeDescriptors, ENOSYS)
                == "cannot start a: it cannot be kept from inheriting descriptors: ENOSYS, function not implemented; run on "
                + "Linux 5.9 or newer")
        #expect(
            text(.makeProcess, EAGAIN)
                == "cannot start a: the system cannot make a process: EAGAIN, resource temporarily "
                + "unavailable; raise the limit of "
                + "processes (ulimit -u, LimitNPROC=, TasksMax=), or end some")
        #expect(
            text(.makeProcess, ENOSYS)
                == "cannot start a: the system cannot make a process: ENOSYS, function not implemented; run on Linux 5.9 or "
                + "newer")
        #expect(
            text(.makeProcess, EPERM)
                == "cannot start a: the system cannot make a process: EPERM, operation not permitted; "
                + "check the limits of the system "
                + "and of its containers")
        #expect(
            text(.openStream, ENOMEM, "x")
                == "cannot start a: x cannot be opened: ENOMEM, not enough memory; make sure that there "
                + "is enough memory")
        #expect(
            text(.execute, EAGAIN)
                == "cannot start a: it cannot be executed: EAGAIN, resource temporarily unavailable; its "
                + "user has reached the limit of processes; end some, or raise the limit")
        #expect(
            text(.execute, ELOOP)
                == "cannot start a: it cannot be executed: ELOOP, too many symbolic links encountered")
        #expect(text(.makeSession, EPERM) == "cannot start a: it cannot get a session of its own: \(rights)")
        #expect(
            text(.makeGroup, EPERM) == "cannot start a: it cannot get a process group of its own: \(rights)")
        #expect(
            text(.controlTerminal, EPERM) == "cannot start a: the terminal cannot become its controlling "
                + "terminal: \(rights)"
        )
        #expect(
            text(.setGroups, EPERM) == "cannot start a: its supplementary groups cannot be set: \(rights)")
        #expect(text(.setGroup, EPERM, "7") == "cannot start a: its group 7 cannot be set: \(rights)")
        #expect(text(.setUser, EPERM, "7") == "cannot start a: its user 7 cannot be set: \(rights)")
    }
}
