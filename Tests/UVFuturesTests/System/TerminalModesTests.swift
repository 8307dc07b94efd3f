import CFuturesSystem
import CLibUV
import Glibc
import Testing
import UVFutures

struct TerminalModesTests {
    @Test("a terminal in raw mode has its mode back when the process ends without a close")
    func rawAtExit() async {
        await #expect(processExitsWith: .success) {
            try withTerminal { _, program in
                dup2(program, 100)
                // What is registered first is called last.
                atexit { if mode(100).c_lflag & tcflag_t(ICANON) == 0 { _exit(3) } }
                let loop = try EventLoop()
                let stream = try DescriptorStream(adopting: program, on: loop)
                try stream.setRawMode(true)
                #expect(mode(100).c_lflag & tcflag_t(ICANON) == 0)
                withExtendedLifetime(stream) { exit(0) }
            }
        }
    }
}
