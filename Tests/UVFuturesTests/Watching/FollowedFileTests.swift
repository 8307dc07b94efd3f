import Testing

@testable import SystemIO
@testable import UVFutures

struct FollowedFileTests {
    @Test(
        "a file that is shorter than what was read is read from its beginning, and what may be lost is told")
    func emptied() throws {
        var log = FollowedLog()
        log.directory.write("log", "before\n")
        try log.begin(from: .end)
        let place = try log.place("log", 7)
        #expect(try log.look() == "" && log.files.losses.isEmpty)
        log.directory.write("log", "new\n")
        #expect(try log.look() == "new\n" && log.files.losses == [.cutOff(after: place)])
        #expect(
            "\(log.files.losses[0])"
                == "what was written after byte 7 of inode \(place.inode) on device \(place.device) was cut "
                + "off, and is lost unless it had been read")
        #expect(try log.look() == "" && log.files.losses.isEmpty)
    }
}
