internal import CLibUV
internal import Glibc

/// A terminal. libuv opens the terminal again, so that the terminal stays in blocking mode for other code.
final class UVTerminal: UVStream {
    /// Creates a terminal on a copy of `descriptor`.
    init(_ driver: UVLoop, copying descriptor: CInt) throws(UVError) {
        let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 3)
        guard copy >= 0 else { throw UVError(-errno, "terminal") }
        do throws(UVError) {
            try unsafe super.init(driver, UV_TTY, "terminal") { loop, terminal in
                // libuv opens the terminal under a new descriptor.
                StandardDescriptors.avoid { unsafe uv_tty_init(loop, terminal, copy, 0) }
            }
        } catch {
            Glibc.close(copy)
            throw error
        }
        if let descriptor = self.descriptor { driver.claim(descriptor) }
        if self.descriptor != copy { Glibc.close(copy) }
    }

    /// Returns the number of columns and rows of the window.
    func size() throws(UVError) -> (columns: Int, rows: Int) {
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
