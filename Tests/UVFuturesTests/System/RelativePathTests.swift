import Testing

@testable import SystemIO
@testable import UVFutures

struct RelativePathTests {
    @Test("a path is split into the directory and the name")
    func split() throws {
        func split(_ text: String) throws -> [String?] {
            let (parent, name) = try RelativePath(text).split()
            return [parent?.description, name.description]
        }
        #expect(try split("a") == [nil, "a"])
        #expect(try split("a/b") == ["a", "b"])
        #expect(try split("./a//b/./c/") == ["a/b", "c"])
        #expect(try split("../a") == ["..", "a"])
        for bad in [".", "..", "a/..", "./"] {
            #expect(
                complaint { _ = try split(bad) }
                    == "the path \(bad) does not end with the name of an entry; give one that does")
        }
    }

    @Test("names that are no UTF-8 keep their bytes")
    func bytes() {
        let name = RelativePath(bytes: [0x61, 0xff])
        #expect(name.description == "a\u{10FFFF}")
        #expect(name.appending(RelativePath(bytes: [0x62])).bytes == [0x61, 0xff, 0x2f, 0x62])
        #expect(RelativePath(temporary: 0x1234, prefix: ".x-").description == ".x-0000000000001234")
    }
}
