internal import CFuturesSystem
internal import CLibUV
internal import Glibc
internal import SystemIO

/// A terminal. libuv opens the terminal again, so that the terminal stays in blocking mode for other code.
final class UVTerminal: UVStream, TerminalCarrier {
    /// Whether libuv could not open the terminal again. Then a write makes the loop wait.
    private(set) var blocks = false

    /// Creates a terminal on a copy of `descriptor`.
    init(_ driver: UVLoop, copying descriptor: CInt) throws(SystemError) {
        let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 3)
        guard copy >= 0 else { throw SystemError(-errno, "terminal") }
        do throws(SystemError) {
            try unsafe super.init(driver, UV_TTY, "terminal") { loop, terminal in
                // libuv opens the terminal under a new descriptor.
                StandardDescriptors.avoid { unsafe uv_tty_init(loop, terminal, copy, 0) }
            }
        } catch {
            Glibc.close(copy)
            throw error
        }
        if let descriptor = self.descriptor { driver.claim(descriptor) }
        blocks = self.descriptor == copy
        if !blocks { Glibc.close(copy) }
    }

    /// Creates a terminal on a copy of `descriptor` that shares its mode, which becomes non-blocking. libuv's terminals
    /// cannot do that, but its pipes can.
    init(_ driver: UVLoop, sharing descriptor: CInt) throws(SystemError) {
        let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 3)
        guard copy >= 0 else { throw SystemError(-errno, "terminal") }
        driver.claim(copy)
        do throws(SystemError) {
            try unsafe super.init(driver, UV_NAMED_PIPE, "terminal") { loop, pipe in
                driver.makeStream { unsafe uv_pipe_init(loop, pipe, 0) }
            }
            try closeUnlessDone(unsafe uv_pipe_open(memory(as: uv_pipe_t.self), copy), "terminal")
        } catch {
            Glibc.close(copy)
            throw error
        }
    }

    /// Returns the number of columns and rows of the window.
    func size() throws(SystemError) -> (columns: Int, rows: Int) {
        var (columns, rows): (CInt, CInt) = (0, 0)
        let status = unsafe uv_tty_get_winsize(memory(as: uv_tty_t.self), &columns, &rows)
        if status != 0 { throw error(status, "window size") }
        return (Int(columns), Int(rows))
    }

    /// Reports success later, because a terminal has no end to send.
    override func shutdownWrite() { answerLater { $0.didShutDown(0) } }

    /// When no program has the other side open any more, a read fails.
    override var ends: [CInt] {
        guard let descriptor, events(of: descriptor) & POLLHUP != 0 else { return super.ends }
        return super.ends + [-EIO]
    }

    override func close(resetting: Bool) {
        if let descriptor { TerminalModes.restore(descriptor) }
        super.close(resetting: resetting)
    }
}
