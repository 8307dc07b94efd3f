import CFuturesSystem
import CLibUV
import Glibc
import Testing

func isNonBlocking(_ descriptor: CInt) -> Bool { fcntl(descriptor, F_GETFL) & O_NONBLOCK != 0 }

/// A new file with `bytes` in it, open for reading and writing, and without a name.
func file(_ bytes: [UInt8] = []) throws -> CInt {
    var template = Array("/tmp/uvfutures-XXXXXX".utf8CString)
    let descriptor = unsafe mkstemp(&template)
    try #require(descriptor >= 0)
    unsafe unlink(template)
    #expect(unsafe write(descriptor, bytes, bytes.count) == bytes.count)
    lseek(descriptor, 0, SEEK_SET)
    return descriptor
}

/// Both ends of a new terminal: the one that a person has, and the one that programs have.
func withTerminal(_ body: (CInt, CInt) throws -> Void) throws {
    let person = unsafe open("/dev/ptmx", O_RDWR | O_NOCTTY)
    try #require(person >= 0)
    defer { close(person) }
    var (lock, number): (CInt, CInt) = (0, 0)
    // TIOCSPTLCK, TIOCGPTN
    let isUnlocked = unsafe ioctl(person, 0x4004_5431, &lock) == 0
    try #require(unsafe isUnlocked && ioctl(person, 0x8004_5430, &number) == 0)
    let program = unsafe open("/dev/pts/\(number)", O_RDWR | O_NOCTTY)
    try #require(program >= 0)
    try body(person, program)
}

func mode(_ descriptor: CInt) -> termios {
    var mode = termios()
    unsafe tcgetattr(descriptor, &mode)
    return mode
}

/// The end to read and the end to write of a FIFO, both in blocking mode, as the shell opens them.
func fifo() throws -> [CInt] {
    let path = "/tmp/uvfutures-\(getpid()).\(UInt64.random(in: 0 ... .max))"
    try #require(unsafe mkfifo(path, 0o600) == 0)
    defer { unsafe _ = unlink(path) }
    let reading = unsafe open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
    let writing = unsafe open(path, O_WRONLY | O_CLOEXEC)
    _ = fcntl(reading, F_SETFL, 0)
    return [reading, writing]
}
