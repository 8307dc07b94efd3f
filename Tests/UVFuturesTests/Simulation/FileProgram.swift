import UVFutures

/// What a program does with files and directories, step by step. It holds what it has opened by numbers. The directory
/// with the number 0 is the root.
struct FileProgram {
    var steps: [Step] = []

    struct Step {
        var action: Action
        /// The files whose times are looked at before and after.
        var observed: [Subject] = []
    }

    /// A path below an open directory.
    struct Place {
        let directory: Int
        let path: String
    }

    enum Subject {
        case file(Int)
        case place(Place)
    }

    enum Action {
        case open(Int, Place, File.Access, File.Creation, truncating: Bool, permissions: UInt32)
        case temporary(Int, in: Int, permissions: UInt32)
        case openDirectory(Int, Place)
        case read(Int, count: Int, at: Int)
        case readAll(Int, limit: Int)
        case write(Int, count: Int, at: Int)
        case append(Int, count: Int)
        case truncate(Int, to: Int)
        case sync(Int, dataOnly: Bool)
        case setPermissionsOfFile(Int, UInt32)
        case lock(Int, FileLock.Mode)
        case unlock(Int)
        case close(Int)
        case information(Subject, followingLink: Bool)
        case setPermissions(Place, UInt32)
        case contents(Place, limit: Int)
        case replace(Place, count: Int, permissions: UInt32?)
        case appendTo(Place, count: Int)
        case makeDirectory(Place, withParents: Bool, permissions: UInt32)
        case rename(Place, to: Place, replacing: Bool)
        case link(Place, as: Place)
        case linkFile(Int, as: Place)
        case makeSymbolicLink(Place, to: String)
        case target(Place)
        case remove(Place)
        case removeDirectory(Place)
        case removeTree(Place, maxDepth: Int)
        case entries(Place)
        case walk(Place, maxDepth: Int, maxEntries: Int)
        case syncDirectory(Int)
        case closeDirectory(Int)
    }
}

extension FileProgram: StepProgram {
    var description: String {
        steps.map { step in
            "\(step.action)" + (step.observed.isEmpty ? "" : " observing \(step.observed)")
        }
        .joined(separator: "\n")
        .replacing("UVFuturesTests.FileProgram.", with: "")
        .replacing("UVFutures.", with: "")
        .shortened
    }
}

extension String {
    /// With what is repeated more than eight times counted only.
    var shortened: String {
        replacing(/(.{1,2}?)\1{8,}/) { match in
            "[\(match.1)×\(match.0.count / match.1.count)]"
        }
    }
}
